/** Approvals of two gateways that share a PostgreSQL: kills, concurrent answers and expiry. */

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { createSender, startGatewayProcess } from '../../helpers/gateway-process.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../helpers/postgres/database.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'the-secret-of-a-route-1';

const configOf = (target: string, expires: string): string => `
gateway:
  store: { postgres: env:DATABASE_URL }
  console: { port: 0, token: token-of-the-operators }
  approvals: { deliver: http, expires: ${expires} }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    rate_limit: 100000
    routes:
      page: { prompt: "{text}", agent: none, deliver: http, approve: true }
  http: { enabled: true, url: "${target}", allow_http: true, allow_private: true, body: "{text}" }
`;

async function setUp(t: TestContext, expires: string) {
  const DATABASE_URL = await testDatabase(t);
  /** Ids by text: a message that arrives twice with the same id counts once. */
  const got = new Map<string, Set<string>>();
  const { url: target } = await startFakeHttp(t, ({ body, headers }) => {
    got.set(body, (got.get(body) ?? new Set()).add(String(headers['webhook-id'])));
    return { status: 200, body: {} };
  });
  const start = async (name: string) => {
    const home = join(root, name);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'config.yaml'), configOf(`${target}/in`, expires), { mode: 0o600 });
    const command = ['gateway', 'run', '--port', '0'];
    const { url, kill } = await startGatewayProcess({ home, command, env: { DATABASE_URL } });
    atEnd(t, kill);
    const cli = (...argv: string[]) => runInProcess(argv, { home, env: { DATABASE_URL, USER: name } });
    const { console } = JSON.parse((await cli('gateway', 'status', '--json')).stdout) as { readonly console: string };
    const answer = async (id: string, body: { readonly approve: boolean; readonly reason?: string }) => {
      const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return (await fetch(`${console}/api/approvals/${id}`, sent)).status === 200;
    };
    const list = async () => JSON.parse((await cli('approvals', 'list', '--json')).stdout) as readonly Approval[];
    return { url, kill, cli, answer, list };
  };
  const root = tempDir(t);
  const send = createSender(SECRET);
  const post = async ({ url }: { readonly url: string }, text: string): Promise<void> =>
    assert.equal((await send(url, 'page', text.slice(0, 9), { text })).status, 202);
  return { start, post, got };
}

describe('approvals of two gateways', { skip: skipWithoutPostgres(), timeout: 3_600_000 }, () => {
  it('accept the first answer on either gateway, and send the shown message once, over kills', async (t) => {
    const { start, post, got } = await setUp(t, '8h');
    let [one, two] = await Promise.all([start('one'), start('two')]);
    const texts = Array.from({ length: 8 }, (_, n) => `message ${n}\nwith a second line`);
    for (const [n, text] of texts.entries()) await post(n % 2 === 0 ? one : two, text);
    await until(async () => (await two.list()).length === texts.length);
    // Killed while messages wait: the other gateway continues, and sends the missing notices.
    await one.kill();
    assert.equal((await two.list()).length, texts.length);
    one = await start('one');
    const notices = () =>
      [...got].filter(([text]) => text.startsWith('hookwright: a message of route page needs your approval'));
    await until(async () => notices().length === texts.length);
    const waiting = await one.list();
    assert.deepEqual(waiting.map(({ text }) => text).toSorted(), texts);
    const shown = (await one.cli('approvals', 'show', waiting[0]?.id ?? '')).stdout;
    assert.ok(shown.endsWith(`\n\n${waiting[0]?.text}\n`), shown);

    const sent = new Set<string>();
    for (const [n, { id, text }] of waiting.entries()) {
      const verdict = n % 2 === 0 ? ['reject', id, '--reason', 'no'] : ['approve', id];
      const [byPage, byCommand] = await Promise.all([
        one.answer(id, { approve: true }),
        two.cli('approvals', ...verdict).then(({ code }) => code === 0),
      ]);
      assert.notEqual(byPage, byCommand, `${id} was answered by ${byPage ? 'both' : 'neither'}`);
      if (byPage || verdict[0] === 'approve') sent.add(text);
      // The gateways that answered may both be down.
      if (n === 3) {
        await Promise.all([one.kill(), two.kill()]);
        [one, two] = await Promise.all([start('one'), start('two')]);
      }
    }
    assert.deepEqual(await two.list(), []);
    const late = await one.cli('approvals', 'approve', waiting[0]?.id ?? '');
    assert.match(late.stderr, /\b(approved|rejected)\b/);
    const states = async () => {
      const all = JSON.parse((await two.cli('deliveries', 'list', '--json')).stdout) as {
        route: string;
        state: string;
      }[];
      return all.filter(({ route }) => route === 'page').map(({ state }) => state);
    };
    await until(async () => (await states()).every((state) => state === 'done' || state === 'skipped'));
    const messages = [...got].filter(([text]) => texts.includes(text));
    assert.deepEqual(messages.map(([text]) => text).toSorted(), [...sent].toSorted());
    for (const [text, ids] of messages) assert.equal(ids.size, 1, text);
    assert.equal((await states()).filter((state) => state === 'skipped').length, texts.length - sent.size);
    assert.deepEqual([notices().length, notices().every(([, ids]) => ids.size === 1)], [texts.length, true]);
    await Promise.all([one.kill(), two.kill()]);
  });

  it('expire without an answer, even if the gateway that stored them is down', async (t) => {
    const { start, post, got } = await setUp(t, '2s');
    const [one, two] = await Promise.all([start('one'), start('two')]);
    await post(one, 'too late');
    await one.kill();
    const dead = await until(async () => {
      const { stdout } = await two.cli('deliveries', 'list', '--state', 'dead', '--json');
      const [found] = JSON.parse(stdout) as readonly { readonly id: string; readonly reason: string }[];
      return found;
    });
    assert.match(dead.reason, /not_approved$/);
    const late = await two.cli('approvals', 'approve', dead.id);
    assert.equal(late.code, 1);
    assert.ok(!got.has('too late'));
    await two.kill();
  });
});
