/** Subscriptions in a shared database: created on any node, served by all. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Ending } from '../../../helpers/at-end.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { startTcpProxy } from '../../../helpers/tcp-proxy.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG = `gateway: { store: { postgres: env:DATABASE_URL } }
platforms: { webhook: { enabled: true, routes: {} } }
`;
const KEYED = CONFIG.replace('env:DATABASE_URL', 'env:DATABASE_URL, key: env:STORE_KEY');
const SECRET = 'a-literal-secret-of-a-subscription';
const KEY = '7c1e9a40d2f8b365a9e17f0c4d8b2360';
const OTHER_KEY = '9c1f77d2b5e84a03c6b21e5df0a8437fe2c54b19';

describe('subscriptions on PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  function makeNode(t: Ending, url: string, config = CONFIG, more: Record<string, string> = {}) {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
    const env = { DATABASE_URL: url, HOOK_SECRET: SECRET, STORE_KEY: KEY, ...more };
    const run = (...argv: string[]): Promise<CliResult> => runInProcess(argv, { home, env });
    const names = async (): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await run('webhook', 'list', '--json');
      assert.equal(code, 0, stderr);
      return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).sort();
    };
    const subscribe = (name: string, secret = 'env:HOOK_SECRET') =>
      run('webhook', 'subscribe', name, '--prompt', 'Hi {x}', '--secret', secret);
    return { home, env, run, names, subscribe };
  }

  it('are created, changed and removed on any node, even by two at once', async (t) => {
    const url = await testDatabase(t);
    const [a, b] = [makeNode(t, url), makeNode(t, url)];
    assert.deepEqual(await b.names(), [], 'before there are tables');
    const made = await Promise.all([a.subscribe('one'), b.subscribe('two'), a.subscribe('three'), b.subscribe('four')]);
    for (const { code, stderr } of made) assert.equal(code, 0, stderr);
    assert.deepEqual(await a.names(), ['four', 'one', 'three', 'two']);
    assert.deepEqual(await b.names(), ['four', 'one', 'three', 'two']);
    assert.equal((await b.run('webhook', 'remove', 'one')).code, 0);
    assert.deepEqual(await a.names(), ['four', 'three', 'two']);
  });

  it('are served by a gateway of another node within a second', async (t) => {
    const url = await testDatabase(t);
    const [a, b] = [makeNode(t, url), makeNode(t, url)];
    const gateway = await startGateway(t, { home: b.home, env: b.env, config: CONFIG });
    const post = async () =>
      (
        await sendAgain(`${gateway.url}/webhooks/late`, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).status;
    assert.equal(await post(), 404);
    assert.equal((await a.subscribe('late')).code, 0);
    await until(async () => (await post()) === 401);
    assert.equal((await a.run('webhook', 'remove', 'late')).code, 0);
    await until(async () => (await post()) === 404);
  });

  it('have their own secrets encrypted, with a key that every node has', async (t) => {
    const url = await testDatabase(t);
    const without = makeNode(t, url);
    const refused = await without.subscribe('alerts', SECRET);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /"alerts"[\s\S]*gateway\.store\.key[\s\S]*--secret env:NAME_SECRET/);
    assert.doesNotMatch(refused.stderr, new RegExp(SECRET));
    const [a, b] = [makeNode(t, url, KEYED), makeNode(t, url, KEYED)];
    assert.equal((await a.subscribe('alerts', SECRET)).code, 0);
    const [row] = await runSql<{ body: string }>(url, 'SELECT body FROM hookwright.document');
    assert.match(row?.body ?? '', /"secret": "sealed:v1:/);
    assert.doesNotMatch(row?.body ?? '', new RegExp(SECRET));
    assert.match((await b.run('webhook', 'show', 'alerts', '--reveal')).stdout, new RegExp(SECRET));
  });

  it('are served without those that cannot be decrypted because no key is set, and their senders retry', async (t) => {
    const url = await testDatabase(t);
    const a = makeNode(t, url, KEYED);
    assert.equal((await a.subscribe('sealed', SECRET)).code, 0);
    assert.equal((await a.subscribe('open')).code, 0);
    const b = makeNode(t, url);
    const listed = await b.run('webhook', 'list', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    const states = (JSON.parse(listed.stdout) as { name: string; state: string; reason: string | null }[]).map(
      ({ name, state, reason }) => [name, state, reason],
    );
    const reason = /secret-sealed: this secret cannot be decrypted/;
    assert.deepEqual(
      states.map(([name, state]) => [name, state]),
      [
        ['sealed', 'quarantined'],
        ['open', 'serving'],
      ],
    );
    assert.match(String(states[0]?.[2]), reason);
    assert.match(listed.stderr, /gateway\.store\.key.*"sealed"/);
    const gateway = await startGateway(t, { home: b.home, env: b.env, config: CONFIG });
    const status = await b.run('gateway', 'status');
    assert.match(status.stdout, /\b1 serving\b.*\b1 quarantined\b[\s\S]*sealed: secret-sealed/);
    const doctor = JSON.parse((await b.run('doctor', '--json')).stdout) as {
      check: string;
      status: string;
      detail: string;
    }[];
    const served = doctor.find(({ check }) => check === 'subscriptions');
    assert.equal(served?.status, 'warning');
    assert.match(served?.detail ?? '', /\bsealed \(secret-sealed/);
    const answers = await Promise.all(
      ['sealed', 'open', 'none'].map((name) =>
        fetch(`${gateway.url}/webhooks/${name}`, { method: 'POST', body: '{}' }),
      ),
    );
    assert.deepEqual(
      answers.map(({ status: code, headers }) => [code, headers.get('retry-after')]),
      [
        [503, '5'],
        [401, null],
        [404, null],
      ],
    );
  });

  it('stay decrypted in the copy of a gateway when a command has another key', async (t) => {
    const url = await testDatabase(t);
    const a = makeNode(t, url, KEYED);
    assert.equal((await a.subscribe('sealed', SECRET)).code, 0);
    const before = readFileSync(join(a.home, 'webhook_subscriptions.json'), 'utf8');
    const env = { ...a.env, STORE_KEY: OTHER_KEY };
    assert.equal((await runInProcess(['webhook', 'list'], { home: a.home, env })).code, 0);
    assert.equal(readFileSync(join(a.home, 'webhook_subscriptions.json'), 'utf8'), before);
  });

  it('are unknown to no sender before the database was read once, whatever the copy contains', async (t) => {
    const url = await testDatabase(t);
    const proxy = await startTcpProxy(t, url);
    proxy.refuse();
    const b = makeNode(t, proxy.via(url));
    const gateway = await startGateway(t, { home: b.home, env: b.env, config: CONFIG });
    const post = (path: string) => fetch(`${gateway.url}${path}`, { method: 'POST', body: '{}' });
    const early = await post('/webhooks/later');
    assert.deepEqual([early.status, early.headers.get('retry-after')], [503, '5']);
    assert.equal((await post('/elsewhere')).status, 404);
    proxy.heal();
    await until(async () => (await post('/webhooks/later')).status === 404);
  });

  it('begin with those of the home, and are served from its copy while the database is unavailable', async (t) => {
    const url = await testDatabase(t);
    const a = makeNode(t, url);
    const old = { before: { prompt: 'Old', secret: 'env:HOOK_SECRET' } };
    writeFileSync(join(a.home, 'webhook_subscriptions.json'), JSON.stringify(old), { mode: 0o600 });
    assert.deepEqual(await a.names(), ['before']);
    assert.equal((await a.subscribe('new')).code, 0);
    const b = makeNode(t, url);
    assert.deepEqual(await b.names(), ['before', 'new']);
    const away = makeNode(t, 'postgres://guest@127.0.0.1:1/none');
    writeFileSync(
      join(away.home, 'webhook_subscriptions.json'),
      readFileSync(join(b.home, 'webhook_subscriptions.json')),
    );
    const listed = await away.run('webhook', 'list', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    assert.equal((await away.subscribe('lost')).code, 1);
    assert.deepEqual(await away.names(), ['before', 'new']);
  });
});
