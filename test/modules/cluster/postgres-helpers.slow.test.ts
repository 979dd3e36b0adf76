/** The helpers of the tests of the store on PostgreSQL: servers that die and return, networks that are cut. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/gateway.ts';
import { nodeArgv } from '../../helpers/node-argv.ts';
import { skipWithoutCluster, skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { removeAbandoned, startCluster } from '../../helpers/postgres/cluster.ts';
import { runSql, testDatabase } from '../../helpers/postgres/database.ts';
import { startTcpProxy } from '../../helpers/tcp-proxy.ts';

describe('databases of tests', { skip: skipWithoutPostgres() }, () => {
  it('are one for each call, on one server', async (t) => {
    const [first, second] = await Promise.all([testDatabase(t), testDatabase(t)]);
    await runSql(first, 'CREATE TABLE mine (n int)');
    const [found] = await runSql<{ there: boolean }>(second, "SELECT to_regclass('mine') IS NOT NULL AS there");
    assert.equal(found?.there, false);
    assert.equal(new URL(first).host, new URL(second).host);
  });

  it('are reached over a proxy that cuts one direction, heals, and rejects', async (t) => {
    const proxy = await startTcpProxy(t, await testDatabase(t));
    const client = new pg.Client({ connectionString: proxy.via('postgres://hookwright:unused@host/postgres') });
    client.on('error', () => {});
    await client.connect();
    await client.query('CREATE TEMP TABLE kept (n int)');
    proxy.cut('down');
    let answered = false;
    const insert = client.query('INSERT INTO kept VALUES (1)').then(() => {
      answered = true;
    });
    await sleep(30);
    assert.equal(answered, false);
    proxy.heal();
    await insert;
    proxy.refuse();
    await assert.rejects(client.query('SELECT 1'));
    await assert.rejects(runSql(proxy.via('postgres://hookwright:unused@host/postgres'), 'SELECT 1'));
    await until(async () => proxy.connections === 0);
  });
});

describe('a server of a test', { skip: skipWithoutCluster() }, () => {
  it('contains the committed rows after it was killed', async (t) => {
    const cluster = await startCluster(t, { fsync: true });
    await runSql(cluster.url(), 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)');
    await cluster.kill();
    assert.equal(cluster.pid, null);
    await assert.rejects(runSql(cluster.url(), 'SELECT 1'), /ECONNREFUSED/);
    cluster.start();
    assert.deepEqual(await runSql(cluster.url(), 'SELECT n FROM kept'), [{ n: 1 }]);
  });

  it('is ended by the next run if its own was killed, and by no earlier run', async (t) => {
    const [node = '', ...argv] = nodeArgv(new URL('../../helpers/postgres/run-server.js', import.meta.url));
    const child = spawn(node, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    atEnd(t, () => child.kill('SIGKILL'));
    const folder = String((await once(child.stdout, 'data'))[0]);
    const pid = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n', 1)[0]);
    removeAbandoned();
    assert.ok(process.kill(pid, 0));
    child.kill('SIGKILL');
    await once(child, 'exit');
    removeAbandoned();
    // Another test of this run may be the one that removes it.
    await until(async () => !existsSync(folder) && !isServer(pid));
  });
});

/** Also false once it has ended and its parent has not noticed. */
const isServer = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    return false;
  }
};
