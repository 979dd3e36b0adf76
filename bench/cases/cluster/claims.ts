/** The time to take a run, with a million finished dispatches and with none. */

import { openPostgresStore } from '../../../modules/cluster/runtime/postgres/postgres-store.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { makeAccept, makeAdvance, makeTake } from '../../../test/helpers/dispatches.ts';
import { runSql } from '../../../test/helpers/postgres/database.ts';
import { percentile } from '../../harness/stats.ts';
import type { Lab } from '../../lab.ts';
import type { ClusterRow } from './row.ts';
import { ms, num } from './row.ts';

const SCHEMAS = ['empty', 'full'] as const;
/** Measured in turns, so that other load on the machine affects both. */
const TURN = 50;

const open = (url: string, schema: string): Promise<Store> =>
  openPostgresStore({
    url,
    schema,
    listen: true,
    clock: systemClock,
    log: silentLog,
    node: { url: () => 'http://127.0.0.1', version: 'bench', table: () => null, problem: () => null },
  });

export async function claims(lab: Lab, url: string): Promise<readonly ClusterRow[]> {
  const done = lab.options.events ?? (lab.quick ? 50_000 : 1_000_000);
  const stores = [await open(url, 'empty'), await open(url, 'full')] as const;
  await fill(url, done);
  const taken = [[], []] as [number[], number[]];
  const turns = lab.quick ? 10 : 60;
  for (let turn = -2; turn < turns; turn++) {
    for (const [at, store] of stores.entries()) {
      const times = await measure(store, turn);
      if (turn >= 0) taken[at]?.push(...times);
    }
  }
  for (const store of stores) await store.close();
  const [empty, full] = taken.map((times) => Float64Array.from(times).sort());
  const row = (name: string, share: number, goal: string): ClusterRow => {
    const [beside, figure] = [percentile(empty ?? [], share), percentile(full ?? [], share)];
    return [`${name}, ${num(done)} done stored / none`, ms(figure), ms(beside), (figure / beside).toFixed(2), goal];
  };
  return [row('taking a run, median', 0.5, ''), row('taking a run, p99', 0.99, '<= 2')];
}

/** Ms to take each run, including its commit. */
async function measure(store: Store, turn: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < TURN; n++) {
    await store.write(makeAccept(`bench ${turn} ${n}`, { claim: null }));
    const began = performance.now();
    const { runs } = await store.write(makeTake(1000));
    times.push(performance.now() - began);
    for (const { ref } of runs) await store.write(makeAdvance(ref, 'done', 1000, { answer: 'ok' }));
  }
  return times;
}

/** Dispatches of some hundred bytes, spread over a hundred routes. */
async function fill(url: string, count: number): Promise<void> {
  await runSql(
    url,
    `SET search_path = ${SCHEMAS[1]}; SET synchronous_commit = off;
    INSERT INTO dispatch (ref, id, profile, route, mode, accepted_at, head, targets, body)
      SELECT n, 'done ' || n, 'default', 'route ' || n % 100, 'agent', n, '["push","' || n || '",null,0]', '["log"]',
        '"' || repeat(md5(n::text), 12) || '"' FROM (SELECT nextval('dispatch_ref') AS n FROM generate_series(1, ${count})) s;
    INSERT INTO ended (ref, state, started_at, answered_at, finished_at) SELECT ref, 'done', ref, ref, ref FROM dispatch;
    INSERT INTO claim (key, expires_at) SELECT '["default","route ' || n % 100 || '","' || n || '"]', 1e15
      FROM generate_series(1, ${count}) n`,
  );
  await runSql(url, 'VACUUM ANALYZE');
  await runSql(url, 'CHECKPOINT');
}
