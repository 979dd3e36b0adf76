/** Tables that travel through the database: pushed by one machine, activated by another, served by all. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Ending } from '../../../../helpers/at-end.ts';
import type { CliResult } from '../../../../helpers/cli.ts';
import { runInProcess } from '../../../../helpers/cli.ts';
import { startGateway, until } from '../../../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../../../helpers/postgres/database.ts';
import { sendAgain } from '../../../../helpers/send-again.ts';
import { tempDir } from '../../../../helpers/temp-dir.ts';

const configOf = (route: string, secret = 'env:HOOK_SECRET') => `gateway: { store: { postgres: env:DATABASE_URL } }
platforms: { webhook: { enabled: true, port: 0, routes: { ${route}: { secret: "${secret}", prompt: "Hi {x}" } } } }
agent: { command: [cat] }
`;
const SERVE = ['serve', '--table', 'store:', '--port', '0'];

describe('a table that travels through the database', { skip: skipWithoutPostgres() }, () => {
  function makeNode(t: Ending, url: string, more: Record<string, string> = {}) {
    const home = tempDir(t);
    const env = { DATABASE_URL: url, HOOK_SECRET: 'a-secret-of-24-characters', ...more };
    const run = (...argv: string[]): Promise<CliResult> => runInProcess(argv, { home, env });
    /** @returns the hash */
    const push = async (config: string): Promise<string> => {
      writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
      const compiled = await run('compile', '--out', join(home, 'build'));
      assert.equal(compiled.code, 0, compiled.stderr);
      const { code, stdout, stderr } = await run('table', 'push', '--table', join(home, 'build'));
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    const activate = async (hash: string): Promise<void> => {
      const { code, stderr } = await run('table', 'activate', hash.slice(0, 12));
      assert.equal(code, 0, stderr);
    };
    const serve = () => startGateway(t, { home, env, config: configOf('unused'), argv: SERVE });
    return { home, env, run, push, activate, serve };
  }
  const statusOf = async (url: string, route: string): Promise<number> =>
    (
      await sendAgain(`${url}/webhooks/${route}`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      })
    ).status;

  it('is pushed, listed and activated from any node, and served once it is active', async (t) => {
    const url = await testDatabase(t);
    const [ci, operator, node] = [makeNode(t, url), makeNode(t, url), makeNode(t, url)];
    writeFileSync(join(operator.home, 'config.yaml'), configOf('unused'), { mode: 0o600 });
    const first = await ci.push(configOf('one'));
    const second = await ci.push(configOf('two'));
    assert.match((await ci.run('table', 'push', '--table', join(ci.home, 'build'))).stderr, /was there already/);
    const early = await makeNode(t, url)
      .serve()
      .catch((error: Error) => error);
    assert.match(String(early), /no table of the database is active/);
    await operator.activate(first);
    const gateway = await node.serve();
    assert.equal(await statusOf(gateway.url, 'one'), 401);
    assert.equal((await gateway.status()).table.hash, first);
    await operator.activate(second);
    await until(async () => (await gateway.status()).table.hash === second);
    assert.deepEqual([await statusOf(gateway.url, 'one'), await statusOf(gateway.url, 'two')], [404, 401]);
    const listed = JSON.parse((await operator.run('table', 'list', '--json')).stdout) as {
      hash: string;
      active: boolean;
    }[];
    assert.deepEqual(
      listed.map(({ hash, active }) => [hash, active]),
      [
        [second, true],
        [first, false],
      ],
    );
    const unknown = await operator.run('table', 'activate', 'ffffff');
    assert.deepEqual([unknown.code, /there is no table "ffffff"/.test(unknown.stderr)], [1, true]);
  });

  it('stays out on a node where a secret is missing, which says so; the copy is served while the database is away', async (t) => {
    const url = await testDatabase(t);
    const ci = makeNode(t, url, { NOT_THERE: 'a-secret-of-24-characters' });
    const first = await ci.push(configOf('one'));
    await ci.activate(first);
    const node = makeNode(t, url);
    const gateway = await node.serve();
    const needy = await ci.push(configOf('two', 'env:NOT_THERE'));
    await ci.activate(needy);
    await until(async () => (await gateway.status()).table.error !== null);
    const { table } = await gateway.status();
    assert.equal(table.hash, first);
    assert.match(table.error ?? '', /NOT_THERE/);
    assert.equal(await statusOf(gateway.url, 'one'), 401);
    await gateway.stop();
    const away = await startGateway(t, {
      home: node.home,
      env: { ...node.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', NOT_THERE: 'a-secret-of-24-characters' },
      config: configOf('unused'),
      argv: SERVE,
    });
    assert.equal((await away.status()).table.hash, needy);
  });

  it('is refused with a secret in it, and where its gateways would share nothing', async (t) => {
    const url = await testDatabase(t);
    const node = makeNode(t, url);
    const secret = await node
      .push(configOf('open', 'a-literal-secret-of-a-route'))
      .catch((error: Error) => error.message);
    assert.match(secret, /holds a secret \(route open\)[\s\S]*env:NAME/);
    assert.doesNotMatch(secret, /a-literal-secret/);
    const alone = await node.push(configOf('a').replace(/^gateway.*\n/, '')).catch((error: Error) => error.message);
    assert.match(alone, /names no database as its store/);
    const none = await node.run('table', 'push', '--table', join(node.home, 'nowhere'));
    assert.match(none.stderr, /there is no table in .*nowhere\n.*hookwright compile/);
    assert.equal(existsSync(join(node.home, 'state.db')), false);
  });
});
