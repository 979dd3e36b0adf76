/** A target with two names: routes, jobs and lists keep theirs, and work of an earlier version is delivered. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobRecord } from '../../../runtime/store/records.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import { makeAccept, makeClaim, makeDispatch } from '../../helpers/dispatches.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const OLD_JOB: JobRecord = {
  ...{ id: 'old', profile: 'default', name: 'old', description: null, schedule: '0 9 1 1 *', timezone: 'UTC' },
  ...{ prompt: 'from a job', deliver: [{ target: 'messenger_a', extra: {} }], agent: 'none', skills: [] },
  ...{ toolsets: null, misfire: 'skip', created_at: 1, blueprint: null },
};

/** Work stored by a version that had `messenger_a` in its tables. */
async function storeAsBefore(home: string): Promise<void> {
  const now = Date.now();
  const store = await openOfflineStore(storePath(home));
  const to = (chat_id: string, label: string | undefined) => ({
    ...{ target: 'messenger_a', extra: { chat_id }, unresolved: [] },
    ...(label === undefined ? {} : { label }),
  });
  for (const [id, delivery] of [
    ['told', to('71', 'telegram')],
    ['plain', to('72', undefined)],
  ] as const) {
    const about = { mode: 'message', route: 'two', delivery_id: id, prompt: `late ${id}`, accepted_at: now } as const;
    await store.write(
      makeAccept(id, {
        dispatch: makeDispatch(id, { ...about, deliveries: [delivery] }),
        claim: makeClaim(id, now + 60_000, { route: 'two' }),
        work: { kind: 'deliveries', answer: null, open: [{ index: 0, target: 'messenger_a', due_at: now }] },
        now,
      }),
    );
  }
  await store.write({ kind: 'put_job', job: OLD_JOB, expect: 'new' });
  await store.close();
  mkdirSync(join(home, 'sessions', 'messenger_a'), { recursive: true });
  writeFileSync(join(home, 'sessions', 'messenger_a', '7.jsonl'), '');
}

interface Listed {
  readonly name: string;
  readonly source: string;
  readonly deliver: readonly string[];
}

test('each route keeps its own name, and work stored under an old name is sent', async (t) => {
  const home = tempDir(t);
  await storeAsBefore(home);
  const server = await startFakeHttp(t, () => ({ body: { ok: true, result: { message_id: 1 } } }));
  const only = 'deliver_only: true, mirror_to_session: true, prompt: "{a}"';
  const gateway = await startGateway(t, {
    home,
    config: `platforms:
  webhook:
    enabled: true
    secret: a-secret-of-two-routes
    routes:
      one: { source: forgea, deliver: messenger_a, ${only} }
      two: { source: github, deliver: telegram, ${only} }
  tg: { enabled: true, token: "1:x", home_channel: "7", api_base: "${server.url}" }
jobs: { nightly: { schedule: 0 9 1 1 *, prompt: x, deliver: messenger_a } }
`,
  });
  const { cli } = gateway;
  for (const [route, source, target] of [
    ['one', 'forgea', 'messenger_a'],
    ['two', 'github', 'telegram'],
  ] as const) {
    const sent = await cli('webhook', 'test', route, '--event', 'push', '--payload', '{"a":"hi"}');
    assert.match(sent.stdout, new RegExp(`^200 .*"target":"${target}"`));
    assert.match(sent.stderr, new RegExp(`\\(${source}, push\\)`));
    const [row] = JSON.parse((await cli('deliveries', 'list', '--route', route, '--json')).stdout);
    const shown = await cli('deliveries', 'show', row.id);
    assert.match(shown.stdout, new RegExp(`delivered \\(${target}\\)`));
    const routes = JSON.parse((await cli('webhook', 'list', '--all', '--json')).stdout) as Listed[];
    const listed = routes.find(({ name }) => name === route);
    assert.deepEqual([listed?.source, listed?.deliver], [source, [target]]);
    assert.match((await cli('requests', 'show')).stdout, new RegExp(`^signature .*\\(${source}\\)$`, 'm'));
    assert.ok(gateway.running.stderr().includes(`"target":"${target}"`), 'the log has it too');
  }
  await until(async () => server.seen.filter(({ body }) => body.includes('late')).length === 2);
  const chats = server.seen.map(({ json }) => String((json as { chat_id: unknown }).chat_id)).sort();
  assert.deepEqual(chats, ['7', '7', '71', '72']);
  for (const [id, target] of [
    ['told', 'telegram'],
    ['plain', 'messenger_a'],
  ] as const)
    await until(async () => (await cli('deliveries', 'show', id)).stdout.includes(`delivered (${target})`));

  const jobs = JSON.parse((await cli('job', 'list', '--json')).stdout) as Listed[];
  assert.deepEqual(Object.fromEntries(jobs.map(({ name, deliver }) => [name, deliver[0]])), {
    nightly: 'messenger_a',
    old: 'telegram',
  });
  // Both names find the session of the chat that the earlier version created.
  const turns = readFileSync(join(home, 'sessions', 'messenger_a', '7.jsonl'), 'utf8')
    .trim()
    .split('\n');
  assert.equal(turns.length, 2);
  for (const target of ['telegram', 'messenger_a', 'tg'])
    assert.equal(JSON.parse((await cli('session', 'show', target, '7', '--json')).stdout).length, 2);
  const profile = (await cli('profile', 'list', '--json')).stdout;
  assert.match(profile, /"tg"/);
});
