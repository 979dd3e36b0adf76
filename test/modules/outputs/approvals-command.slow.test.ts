/** `hookwright approvals`, with a running gateway and without one. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'the-secret-of-a-route-1';
const YAML = `
gateway: { approvals: { deliver: local } }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      news: { prompt: "{text}", agent: none, deliver: local, approve: true }
`;
/** A target with a closed port. */
const ELSEWHERE = YAML.replace('deliver: local, approve', 'deliver: http, approve').replace(
  'platforms:\n',
  'platforms:\n  http: { enabled: true, url: "http://127.0.0.1:9/one", allow_http: true, allow_private: true }\n',
);

it('does not approve a message whose target has changed, but can reject it', async (t) => {
  const options = { home: tempDir(t), env: { USER: 'ann' } };
  const { url, cli, home } = await startGateway(t, { ...options, config: ELSEWHERE });
  const body = '{"text":"hi"}';
  await sendAgain(`${url}/webhooks/news`, { method: 'POST', body, headers: signed(body, SECRET) });
  const [one] = JSON.parse((await cli('approvals', 'list', '--json')).stdout) as readonly Approval[];
  writeFileSync(join(home, 'config.yaml'), ELSEWHERE.replace('/one', '/two'));
  assert.equal((await cli('gateway', 'reload')).code, 0);
  const moved = await cli('approvals', 'approve', one?.id ?? '');
  assert.deepEqual([moved.code, moved.stdout], [1, '']);
  assert.match(moved.stderr, /\bhttp http:.*\/one/);
  assert.match((await cli('approvals', 'list')).stdout, new RegExp(one?.id ?? ''));
  const rejected = await cli('approvals', 'reject', one?.id ?? '');
  assert.equal(rejected.code, 0);
  const [, next = ''] = /; hookwright (deliveries show \w+)\n$/.exec(rejected.stdout) ?? [];
  await until(async () => (await cli(...next.split(' '))).stdout.includes('not_approved'));
});

it('lists, shows, approves and rejects messages; a second answer exits 1 and names the first', async (t) => {
  const options = { home: tempDir(t), env: { USER: 'ann' } };
  const { url, cli, stop, home } = await startGateway(t, { ...options, config: YAML });
  const send = async (text: string): Promise<void> => {
    const body = JSON.stringify({ text });
    const answer = await sendAgain(`${url}/webhooks/news`, { method: 'POST', body, headers: signed(body, SECRET) });
    assert.equal(answer.status, 202);
  };
  const list = async (): Promise<readonly Approval[]> =>
    JSON.parse((await cli('approvals', 'list', '--json')).stdout) as readonly Approval[];
  for (const text of ['first\nline', 'second', 'third']) await send(text);
  const [one, two, three] = await list();
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  assert.match((await cli('approvals', 'list')).stdout, new RegExp(`${one.id} +news +local +2[34] h`));
  const shown = await cli('approvals', 'show', one.id);
  assert.match(shown.stdout, /^state .* UTC$/m);
  assert.match(shown.stdout, /\n\nfirst\nline\n$/);
  const dispatch = one.id.split('-')[0] ?? '';
  assert.match((await cli('deliveries', 'list')).stdout, new RegExp(`${dispatch} .* waiting .*approval`));
  const stateOf = async (...words: string[]): Promise<unknown> =>
    (JSON.parse((await cli('deliveries', ...words, '--json')).stdout) as { state?: unknown }).state;
  assert.equal(await stateOf('show', dispatch), 'waiting');
  const ids = async (state: string): Promise<number> =>
    (JSON.parse((await cli('deliveries', 'list', '--state', state, '--json')).stdout) as unknown[]).length;
  assert.deepEqual([await ids('waiting'), await ids('delivering')], [3, 0]);
  assert.match((await cli('gateway', 'status')).stdout, /3 waiting/);
  assert.match((await cli('deliveries', 'show', dispatch)).stdout, /^state +waiting$/m);
  assert.equal((await cli('deliveries', 'replay', dispatch)).code, 1);
  // Only `show` takes a part of an id.
  for (const part of [dispatch, one.id.slice(0, -1), one.id.slice(0, -24)])
    assert.equal((await cli('approvals', 'approve', part)).code, 1);
  assert.equal((await cli('approvals', 'approve', one.id)).code, 0);
  await until(async () => (await cli('deliveries', 'show', dispatch)).stdout.includes('delivered (local)'));
  assert.match((await cli('deliveries', 'show', dispatch)).stdout, /\bann\b.*\blocal\b/);
  const late = await cli('approvals', 'reject', one.id, '--reason', 'too late');
  assert.deepEqual([late.code, late.stdout], [1, '']);
  assert.match(late.stderr, new RegExp(`${one.id}.*\\bann\\b`));
  assert.equal((await cli('approvals', 'reject', two.id, '--reason', 'spam')).code, 0);
  await until(async () =>
    (await cli('deliveries', 'list', '--state', 'skipped')).stdout.includes('not_approved: spam'),
  );
  assert.match((await cli('approvals', 'show', two.id)).stdout, /^state .*\bann\b.*: spam$/m);
  assert.equal((await cli('approvals', 'approve', 'nothing')).code, 1);
  const some = await cli('approvals', 'show', '0');
  assert.deepEqual([some.code, (await list()).map(({ id }) => id)], [0, [three.id]]);
  await stop();
  // Without a gateway the answer is stored, and takes effect at the next start.
  assert.equal((await runInProcess(['approvals', 'approve', three.id], options)).code, 0);
  const again = await startGateway(t, { ...options, home, config: YAML });
  const third = three.id.split('-')[0] ?? '';
  await until(async () => (await again.cli('deliveries', 'show', third)).stdout.includes('delivered (local)'));
});

it('applies to jobs and subscriptions of the command line while their flag is set', async (t) => {
  const { cli, url } = await startGateway(t, { home: tempDir(t), env: { USER: 'ann' }, config: YAML });
  const fine = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cli(...argv);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const waiting = async (): Promise<readonly Approval[]> =>
    JSON.parse(await fine('approvals', 'list', '--json')) as readonly Approval[];
  /** Runs the job. True if its message waits for approval. */
  const run = async (): Promise<boolean> => {
    const { dispatch } = JSON.parse(await fine('job', 'run', 'tea', '--json')) as { readonly dispatch: string };
    const shown = await until(async () => {
      const out = await fine('deliveries', 'show', dispatch);
      return /^state +(waiting|done)$/m.test(out) && out;
    });
    const [one] = (await waiting()).filter(({ id }) => id.startsWith(dispatch));
    if (one !== undefined) await fine('approvals', 'reject', one.id);
    return /^state +waiting$/m.test(shown);
  };
  const tea = ['job', 'create', 'tea', '--schedule', '0 0 1 1 *', '--prompt', 'Tea!', '--agent', 'none'];
  await fine(...tea, '--deliver', 'local', '--approve');
  assert.equal(await run(), true);
  await fine('job', 'edit', 'tea', '--prompt', 'Coffee!');
  assert.equal(await run(), true);
  await fine('job', 'edit', 'tea', '--deliver', 'log');
  assert.equal(await run(), true);
  await fine('job', 'edit', 'tea', '--no-approve');
  assert.equal(await run(), false);
  await fine('job', 'edit', 'tea', '--approve');
  assert.equal(await run(), true);

  const sent = async (): Promise<readonly string[]> => {
    const body = '{"text":"hi"}';
    await fetch(`${url}/webhooks/late`, { method: 'POST', body, headers: signed(body, SECRET) });
    return (await waiting()).map(({ route, text }) => `${route} ${text}`);
  };
  const late = ['webhook', 'subscribe', 'late', '--secret', SECRET, '--agent', 'none', '--deliver', 'local'];
  await fine(...late, '--prompt', '{text}', '--approve');
  assert.deepEqual(await sent(), ['late hi']);
  await fine('webhook', 'subscribe', 'late', '--no-approve');
  assert.deepEqual(await sent(), ['late hi']);
});
