/** `gateway status --all`: every gateway that shares the store, seen from any of them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { StoredNode } from '../../../../runtime/store/queries.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const WEBHOOK = 'enabled: true, secret: a-secret-of-24-characters, routes: { alerts: { prompt: "{title}" } }';
const SQLITE = `platforms: { webhook: { ${WEBHOOK} } }\n`;
const CONFIG = `gateway: { console: { port: 0 }, store: { postgres: env:DATABASE_URL } }\n${SQLITE}`;

describe('gateway status --all', () => {
  it('shows the one gateway if the store is a file, and none without it', async (t) => {
    const { cli, status, stop } = await startGateway(t, { home: tempDir(t), config: SQLITE });
    const [node, ...others] = JSON.parse((await cli('gateway', 'status', '--all', '--json')).stdout) as StoredNode[];
    assert.deepEqual([node?.url, node?.table, others.length], [(await status()).url, (await status()).table.hash, 0]);
    await stop();
    const none = await cli('gateway', 'status', '--all', '--json');
    assert.deepEqual([none.code, none.stdout], [1, '[]\n']);
  });

  it('reports the problem if the database is unavailable from the start, and answers events with 503', async (t) => {
    const env = { DATABASE_URL: 'postgres://user:pass-word-of-a-test@127.0.0.1:1/none' };
    const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG, env });
    const sent = await gateway.cli('webhook', 'test', 'alerts');
    assert.match(sent.stdout, /^503 .*overloaded/m, sent.stderr);
    const list = await gateway.cli('job', 'list');
    assert.match(list.stderr, /^error: .*ECONNREFUSED/m);
    const log = gateway.running.stderr();
    assert.match(log, /scheduler/);
    assert.doesNotMatch(log, /"stack"|pass-word-of-a-test/);
    await gateway.stop();
  });

  it('shows running, stopped and lost gateways, and which table each serves', {
    skip: skipWithoutPostgres(),
  }, async (t) => {
    const url = await testDatabase(t);
    const env = { DATABASE_URL: url };
    const home = tempDir(t);
    const one = await startGateway(t, { home, config: CONFIG, env });
    const other = await openTestStore(url, 'hookwright', {
      node: {
        url: () => 'http://two.example:1',
        version: '9.9.9',
        table: () => 'another-table-hash',
        problem: () => 'no secret',
      },
    });
    atEnd(t, () => other.close());
    const away = tempDir(t);
    writeFileSync(join(away, 'config.yaml'), CONFIG, { mode: 0o600 });
    const look = async () => {
      const { code, stdout, stderr } = await runInProcess(['gateway', 'status', '--all', '--json'], {
        home: away,
        env,
      });
      return { code, nodes: JSON.parse(stdout || stderr) as StoredNode[] };
    };
    const { table, console } = await one.status();
    // The others know its address only from its first renewal on.
    const { code, nodes } = await until(async () => {
      const found = await look();
      return found.nodes[0]?.url === one.url && found;
    });
    assert.equal(code, 0);
    assert.deepEqual(
      nodes.map(({ state, table, problem }) => ({ state, table, problem })),
      [
        { state: 'serving', table: table.hash, problem: null },
        { state: 'serving', table: 'another-table-hash', problem: 'no secret' },
      ],
    );
    assert.deepEqual(Object.keys(nodes[0] ?? {}).sort(), [
      ...['lease_expires_at', 'node', 'problem', 'started_at', 'state', 'table', 'url', 'version'],
    ]);
    const text = (await one.cli('gateway', 'status', '--all')).stdout;
    assert.match(text, /http:\/\/two\.example:1 .*\b\d+ s\b/);
    assert.match(text, /^! .*\b2\b.*\n! /m);
    writeFileSync(join(home, 'config.yaml'), 'routes: [');
    await one.cli('gateway', 'reload');
    await until(async () => (await look()).nodes[0]?.problem?.startsWith('the configuration has an error') === true);
    writeFileSync(join(home, 'config.yaml'), CONFIG);
    await one.cli('gateway', 'reload');
    await until(async () => (await look()).nodes[0]?.problem === null);
    const said = /serve a different table \(hash another-tabl\)/;
    await until(async () => said.test(await (await fetch(`${console}/readyz`)).text()));
    assert.match(one.running.stderr(), said);
    await other.close();
    assert.equal((await look()).nodes[1]?.state, 'stopped');
    await runSql(url, "UPDATE hookwright.node SET ended_at = NULL, until = until - interval '1 hour' WHERE id = 2");
    assert.equal((await look()).nodes[1]?.state, 'lost');
    await one.stop();
    assert.deepEqual([(await look()).code, (await look()).nodes[0]?.state], [1, 'stopped']);
  });
});
