/**
 * The effect of retention on arriving events: DELETE in slices, as the engine does it, compared with DROP of a
 * partition.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../../modules/cluster/runtime/postgres/postgres-store.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { makeAccept } from '../../../test/helpers/dispatches.ts';
import { runSql } from '../../../test/helpers/postgres/database.ts';
import { percentile } from '../../harness/stats.ts';
import type { Lab } from '../../lab.ts';
import type { ClusterRow } from './row.ts';
import { megabytes, ms } from './row.ts';

const RATE = 200;
const IDLE_MS = 5000;
const WARM_UP_MS = 3000;
/** The values of runtime/store/retention.ts. */
const SLICE = 200;
const PAUSE_MS = 20;
const LAST_OLD_MS = 1000;

interface Removal {
  readonly p99: number;
  readonly idleP99: number;
  readonly ms: number;
  /** WAL bytes, without those of the accepted events. */
  readonly walBytes: number;
  /** Size of dispatch and ended, with indexes and large values. */
  readonly bytesLeft: number;
}

export async function retention(lab: Lab, url: string): Promise<readonly ClusterRow[]> {
  const old = lab.options.events ?? (lab.quick ? 10_000 : 100_000);
  const slices = await measure(url, 'slices', old, removeSlices);
  const drop = await measure(url, 'partitions', old, removePartition);
  const row = (name: string, figure: string, beside: string, ratio: number): ClusterRow => {
    return [`${name}, ${old} rows: slices / partition`, figure, beside, ratio.toFixed(2), ''];
  };
  return [
    row('p99 of an event while they are removed', ms(slices.p99), ms(drop.p99), slices.p99 / drop.p99),
    row('the same while nothing is removed', ms(slices.idleP99), ms(drop.idleP99), slices.idleP99 / drop.idleP99),
    row('time of the removal', ms(slices.ms), ms(drop.ms), slices.ms / drop.ms),
    row('WAL', megabytes(slices.walBytes), megabytes(drop.walBytes), slices.walBytes / drop.walBytes),
    row('tables afterwards', megabytes(slices.bytesLeft), megabytes(drop.bytesLeft), slices.bytesLeft / drop.bytesLeft),
  ];
}

type Remove = (place: { readonly store: Store; readonly url: string; readonly schema: string }) => Promise<void>;

async function measure(url: string, schema: string, old: number, remove: Remove): Promise<Removal> {
  const node = { url: () => 'http://127.0.0.1', version: 'bench', table: () => null, problem: () => null };
  const store = await openPostgresStore({
    url,
    schema,
    listen: true,
    clock: systemClock,
    log: silentLog,
    node,
  });
  if (schema === 'partitions') await partition(url, schema, old);
  await fill(url, schema, old);
  await during(url, store, () => sleep(WARM_UP_MS));
  const idle = await during(url, store, () => sleep(IDLE_MS));
  const removal = await during(url, store, () => remove({ store, url, schema }));
  const [size] = await runSql<{ bytes: string }>(
    url,
    'SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_stat_user_tables ' +
      `WHERE schemaname = '${schema}' AND relname ~ '^(dispatch|ended)'`,
  );
  await store.close();
  const ofEvents = (idle.walBytes / idle.times.length) * removal.times.length;
  return {
    p99: percentile(removal.times, 0.99),
    idleP99: percentile(idle.times, 0.99),
    ms: removal.ms,
    walBytes: Math.max(0, removal.walBytes - ofEvents),
    bytesLeft: Number(size?.bytes),
  };
}

let accepted = 0;

/** Accepts events at a steady rate until `work` is done. @returns the ms of each, from when it was due */
async function during(url: string, store: Store, work: () => Promise<unknown>) {
  const before = await walPosition(url);
  const began = performance.now();
  const times: number[] = [];
  const sent: Promise<unknown>[] = [];
  let isDone = false;
  const end = Promise.resolve(work()).then(() => {
    isDone = true;
    return performance.now() - began;
  });
  for (let due = began; !isDone || times.length < RATE; due += 1000 / RATE) {
    await sleep(Math.max(0, due - performance.now()));
    const accept = makeAccept(`bench ${++accepted}`, { claim: null });
    const dispatch = { ...accept.dispatch, prompt: 'x'.repeat(2000) };
    sent.push(store.write({ ...accept, dispatch }).then(() => times.push(performance.now() - due)));
  }
  await Promise.all(sent);
  const walBytes = Number(await walPosition(url)) - Number(before);
  return { times: Float64Array.from(times).sort(), ms: await end, walBytes };
}

async function walPosition(url: string): Promise<string> {
  const [row] = await runSql<{ at: string }>(url, "SELECT pg_current_wal_insert_lsn() - '0/0' AS at");
  return row?.at ?? '0';
}

const removeSlices: Remove = async ({ store }) => {
  for (let after: number | null = 0; after !== null; await sleep(PAUSE_MS)) {
    after = (await store.write({ kind: 'cleanup', before: LAST_OLD_MS, after, limit: SLICE })).next;
  }
};

/** Waits at most 50 ms for the lock, because it blocks every event. */
const removePartition: Remove = async ({ url, schema }) => {
  const drop = `SET lock_timeout = 50; DROP TABLE ${schema}.dispatch_old, ${schema}.ended_old`;
  while (
    !(await runSql(url, drop).then(
      () => true,
      () => false,
    ))
  ) {
    await sleep(PAUSE_MS);
  }
};

/** Partitions by number, which grows with time. Ids are then unique only within a partition. */
async function partition(url: string, schema: string, old: number): Promise<void> {
  const split = (table: string): string => `
    ALTER TABLE ${table} RENAME TO ${table}_whole;
    CREATE TABLE ${table} (LIKE ${table}_whole INCLUDING DEFAULTS, PRIMARY KEY (ref)) PARTITION BY RANGE (ref);
    CREATE TABLE ${table}_old PARTITION OF ${table} FOR VALUES FROM (1) TO (${old + 1});
    CREATE TABLE ${table}_new PARTITION OF ${table} FOR VALUES FROM (${old + 1}) TO (MAXVALUE);
    DROP TABLE ${table}_whole;`;
  const indexes = `
    CREATE INDEX ON dispatch (id); CREATE INDEX ON dispatch (id text_pattern_ops); CREATE INDEX ON dispatch (route, ref);
    CREATE INDEX ON dispatch (job, ref) WHERE job IS NOT NULL;`;
  await runSql(url, `SET search_path = ${schema}; ${split('dispatch')} ${split('ended')} ${indexes}`);
}

async function fill(url: string, schema: string, count: number): Promise<void> {
  await runSql(
    url,
    `SET search_path = ${schema}; SET synchronous_commit = off;
    INSERT INTO dispatch (ref, id, profile, route, mode, accepted_at, head, targets, body)
      SELECT n, 'done ' || n, 'default', 'route ' || n % 100, 'agent', 0, '["push","' || n || '",null,0]', '["log"]',
        '"' || repeat(md5(n::text), 60) || '"' FROM (SELECT nextval('dispatch_ref') AS n FROM generate_series(1, ${count})) s;
    INSERT INTO ended (ref, state, started_at, answered_at, finished_at) SELECT ref, 'done', 0, 0, 0 FROM dispatch`,
  );
  await runSql(url, 'VACUUM ANALYZE');
  await runSql(url, 'CHECKPOINT');
}
