/** Subscriptions where gateways share a database: made on any node, served by all. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Ending } from '../../helpers/at-end.ts';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../helpers/postgres/database.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `gateway: { store: { postgres: env:DATABASE_URL } }
platforms: { webhook: { enabled: true, routes: {} } }
`;
const KEYED = CONFIG.replace('env:DATABASE_URL', 'env:DATABASE_URL, key: env:STORE_KEY');
const SECRET = 'a-literal-secret-of-a-subscription';
const KEY = '0123456789abcdef0123456789abcdef';

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

  it('are made, changed and removed on any node, also by two at once', async (t) => {
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
        await fetch(`${gateway.url}/webhooks/late`, {
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

  it('keep their own secret encrypted, with a key that every node has', async (t) => {
    const url = await testDatabase(t);
    const without = makeNode(t, url);
    const refused = await without.subscribe('alerts', SECRET);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /the secret of subscription "alerts" .* no key[\s\S]*gateway\.store\.key[\s\S]*--secret env:NAME/,
    );
    assert.doesNotMatch(refused.stderr, new RegExp(SECRET));
    const [a, b] = [makeNode(t, url, KEYED), makeNode(t, url, KEYED)];
    assert.equal((await a.subscribe('alerts', SECRET)).code, 0);
    const [row] = await runSql<{ body: string }>(url, 'SELECT body FROM hookwright.document');
    assert.match(row?.body ?? '', /"secret": "sealed:v1:/);
    assert.doesNotMatch(row?.body ?? '', new RegExp(SECRET));
    assert.match((await b.run('webhook', 'show', 'alerts', '--reveal')).stdout, new RegExp(SECRET));
    const other = makeNode(t, url, KEYED, { STORE_KEY: KEY.toUpperCase().padStart(40, 'x') });
    assert.match(
      (await other.run('webhook', 'list')).stderr,
      /"alerts" cannot be decrypted: it was encrypted with another/,
    );
    assert.match(
      (await without.run('webhook', 'list')).stderr,
      /"alerts" cannot be decrypted: gateway\.store\.key is not set here/,
    );
  });

  it('begin with those that the home has, and go on from its copy while the database is away', async (t) => {
    const url = await testDatabase(t);
    const a = makeNode(t, url);
    const old = { before: { prompt: 'Old', secret: 'env:HOOK_SECRET' } };
    writeFileSync(join(a.home, 'webhook_subscriptions.json'), JSON.stringify(old), { mode: 0o600 });
    assert.deepEqual(await a.names(), ['before']);
    assert.equal((await a.subscribe('new')).code, 0);
    const b = makeNode(t, url);
    assert.deepEqual(await b.names(), ['before', 'new']);
    const away = makeNode(t, 'postgres://nobody@127.0.0.1:1/none');
    writeFileSync(
      join(away.home, 'webhook_subscriptions.json'),
      readFileSync(join(b.home, 'webhook_subscriptions.json')),
    );
    const listed = await away.run('webhook', 'list', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stderr, /the subscriptions are those that this home has last seen/);
    assert.equal((await away.subscribe('lost')).code, 1);
    assert.deepEqual(await away.names(), ['before', 'new']);
  });
});
