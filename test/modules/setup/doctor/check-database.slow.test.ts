/** `hookwright doctor` with a database that gateways share. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { after, before, describe, it } from 'node:test';
import type { Check } from '../../../../cli/base/check.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { loadDriver } from '../../../../modules/cluster/runtime/postgres/driver.ts';
import { inspectServer } from '../../../../modules/cluster/runtime/postgres/inspect.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { makeAccept, makeAdvance, makeTake } from '../../../helpers/dispatches.ts';
import { until } from '../../../helpers/gateway.ts';
import { skipWithoutCluster } from '../../../helpers/postgres/binaries.ts';
import { Cluster } from '../../../helpers/postgres/cluster.ts';
import { runSql } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG = `gateway: { store: { postgres: env:DATABASE_URL } }
platforms: { webhook: { enabled: true, port: 0, secret: a-secret-of-24-characters, routes: { alerts: { prompt: "{title}" } } } }
`;
const PASSWORD = 'pass-word-of-a-test';

describe('doctor on PostgreSQL', { skip: skipWithoutCluster() }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.create();
  });
  after(() => cluster.remove());

  async function doctor(t: TestContext, url: string, context: Partial<CliContext> = {}) {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
    const { stdout, stderr } = await runInProcess(['doctor', '--json'], { home, env: { DATABASE_URL: url }, context });
    assert.equal(`${stdout}${stderr}`.includes(PASSWORD), false);
    const all = JSON.parse(stdout) as Check[];
    const checks = all.filter(({ subject }) => subject === 'database');
    const deliveries = all.filter(({ subject }) => subject === 'deliveries');
    const of = (name: string) => checks.find(({ check }) => check === name);
    return { checks, deliveries, of };
  }

  it('checks version, durability, connections, clock, tables and the activity of gateways', async (t) => {
    const none = await doctor(t, cluster.url());
    assert.match(none.of('tables')?.detail ?? '', /\bhookwright\b/);
    // Test servers run without it.
    assert.match(none.of('durable')?.detail ?? '', /\bfsync\b.*\bfull_page_writes\b/);
    assert.deepEqual(
      ['version', 'connections', 'clock'].map((name) => none.of(name)?.status),
      ['ok', 'ok', 'ok'],
    );
    const store = await openTestStore(cluster.url(), 'hookwright');
    await store.write(makeAccept('a', { now: Date.now() - 300_000 }));
    const found = await doctor(t, cluster.url());
    assert.deepEqual(found.deliveries, []);
    assert.match(found.of('tables')?.detail ?? '', /\bhookwright\b.*\b\d+\b.*\bhookwright\b/);
    assert.match(found.of('lag')?.detail ?? '', /\b5 min\b/);
    assert.deepEqual([found.of('bloat')?.status, found.of('gateways')?.detail], ['ok', '1 serving, table hash']);
    const failed = await store.write(makeAccept('b', { claim: null }));
    await store.write(makeTake(Date.now()));
    const ref = 'ref' in failed ? failed.ref : 0;
    await store.write(makeAdvance(ref, 'dead', Date.now() - 60_000, { reason: 'gone' }));
    const [dead] = (await doctor(t, cluster.url())).deliveries;
    assert.match(dead?.detail ?? '', /^1 .*\b1 of alerts\b.*\b1 min/);
    await store.close();
  });

  const UNUSABLE: readonly (readonly [string, (url: URL) => void, RegExp])[] = [
    [
      'a database that is missing',
      (url) => (url.pathname = '/nowhere'),
      /"nowhere" does not exist; create it, or correct the URL/,
    ],
    ['an unknown user', (url) => (url.username = 'unknown'), /"unknown" does not exist; check the user in the URL/],
    [
      'a server without TLS',
      (url) => url.searchParams.set('sslmode', 'require'),
      /not support SSL connections; set `ssl = on`/,
    ],
  ];
  for (const [what, change, detail] of UNUSABLE) {
    it(`prints a fix for ${what}`, async (t) => {
      const url = new URL(cluster.url());
      change(url);
      const usable = (await doctor(t, url.href)).of('usable');
      assert.equal(usable?.status, 'failed');
      assert.match(usable?.detail ?? '', detail);
    });
  }

  it('reports an offline standby and unused replication slots', async (t) => {
    const before = await doctor(t, cluster.url());
    assert.deepEqual(
      ['standby', 'transactions', 'slots'].map((name) => before.of(name)?.status),
      ['ok', 'ok', 'ok'],
    );
    await runSql(cluster.url(), "SELECT pg_create_physical_replication_slot('left_over', true)");
    await runSql(cluster.url(), "ALTER SYSTEM SET synchronous_standby_names = 'second'");
    await runSql(cluster.url(), 'SELECT pg_reload_conf()');
    const found = await until(async () => {
      const seen = await doctor(t, cluster.url());
      return seen.of('standby')?.status === 'failed' && seen;
    });
    assert.match(found.of('slots')?.detail ?? '', /left_over: \d+ MiB/);
    await runSql(cluster.url(), 'ALTER SYSTEM RESET synchronous_standby_names');
    await runSql(cluster.url(), "SELECT pg_reload_conf(), pg_drop_replication_slot('left_over')");
  });

  it('reports how long a transaction has blocked vacuum', async () => {
    const open = await (await loadDriver())({ url: cluster.url(), name: 'test', prepare: false });
    await open.script('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep(0.2)');
    const db = await (await loadDriver())({ url: cluster.url(), name: 'test', prepare: false });
    const { oldest_transaction_ms } = await inspectServer(db, systemClock);
    assert.ok(oldest_transaction_ms >= 200, `${oldest_transaction_ms}`);
    await Promise.all([open, db].map((connection) => connection.close()));
  });

  it("reports a clock that differs from the database's", async (t) => {
    const clock = { ...systemClock, now: () => Date.now() - 600_000 };
    const { of } = await doctor(t, cluster.url(), { clock });
    assert.match(of('clock')?.detail ?? '', /\b(?:10 min|9 min \d+ s)\b/);
  });

  it('names the tables that a role may not use, with a fix', async (t) => {
    await (await openTestStore(cluster.url(), 'hookwright')).close();
    await runSql(
      cluster.url(),
      'CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA hookwright TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA hookwright TO reader',
    );
    const { of } = await doctor(t, cluster.url().replace(/\/\/[^@]*@/, '//reader@'));
    assert.match(of('rights')?.detail ?? '', /\breader\b.*\bwork\b/);
    assert.match(of('rights')?.fix ?? '', /hookwright docs scale/);
  });

  it('reports an unreachable database or a rejected login, without the password', async (t) => {
    const [away] = (await doctor(t, `postgres://user:${PASSWORD}@127.0.0.1:1/none`)).checks;
    assert.deepEqual([away?.status, /ECONNREFUSED/.test(away?.detail ?? '')], ['failed', true]);
    await runSql(cluster.url(), "CREATE ROLE locked LOGIN PASSWORD 'another one'");
    const access = join(cluster.folder, 'data/pg_hba.conf');
    writeFileSync(access, `host all locked 127.0.0.1/32 scram-sha-256\n${readFileSync(access, 'utf8')}`);
    await runSql(cluster.url(), 'SELECT pg_reload_conf()');
    const refused = await until(async () => {
      const [check] = (await doctor(t, cluster.url().replace(/\/\/[^@]*@/, `//locked:${PASSWORD}@`))).checks;
      return check?.status === 'failed' && check;
    });
    assert.match(refused.detail, /password authentication failed for user "locked"/);
  });
});
