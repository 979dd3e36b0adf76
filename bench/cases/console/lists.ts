/**
 * The time of the console's lists with 100,000 deliveries and as many requests, on each engine, over the API that pages
 * use.
 */
import { join } from 'node:path';
import { openPostgresStore } from '../../../modules/cluster/runtime/postgres/postgres-store.ts';
import { RequestFile } from '../../../modules/workbench/runtime/capture/request-file.ts';
import { capturePath } from '../../../modules/workbench/runtime/capture/requests.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import { connect, inTransaction } from '../../../runtime/store/sqlite/driver.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { makeDispatch } from '../../../test/helpers/dispatches.ts';
import { Cluster } from '../../../test/helpers/postgres/cluster.ts';
import { runSql } from '../../../test/helpers/postgres/database.ts';
import { percentile } from '../../harness/stats.ts';
import type { Lab } from '../../lab.ts';
import { requestRows } from '../capture.ts';
import { withConsole } from './with-console.ts';

const COUNT = 100_000;
/** Between two of them, in ms. */
const STEP_MS = 100;
const BODY = Buffer.from('x'.repeat(2000));
/** Never due in a bench. */
const LATER = 4_000_000_000_000;

const FIRST_MS = 100;
const FILTER_MS = 200;
const TIMES = 15;

/** The queries of a page; `{since}` is a time after which a few requests arrived. */
const LISTS: readonly (readonly [path: string, goal: number])[] = [
  ['/api/overview', FIRST_MS],
  ['/api/deliveries?limit=50', FIRST_MS],
  ['/api/deliveries?limit=50&cursor={middle}', FIRST_MS],
  ...['pending', 'running', 'delivering', 'waiting', 'done', 'dead', 'skipped'].map(
    (state) => [`/api/deliveries?limit=50&state=${state}`, FILTER_MS] as const,
  ),
  ...[
    'route=route-7',
    'route=rare',
    'route=filtered',
    'job=job-1',
    'since={since}',
    'since={half}',
    'since={never}',
    'until={half}',
    'until=1000',
    'since={half}&until={since}',
  ].map((query) => [`/api/deliveries?limit=50&${query}`, FILTER_MS] as const),
  ...['route=route-7&state=dead', 'route=rare&state=done', 'route=route-7&state=pending', 'job=job-1&state=dead'].map(
    (query) => [`/api/deliveries?limit=50&${query}`, FILTER_MS] as const,
  ),
  ['/api/requests?limit=50', FIRST_MS],
  ...['route=route-7', 'route=filtered', 'outcome=accepted', 'outcome=invalid_signature', 'outcome=aborted'].map(
    (query) => [`/api/requests?limit=50&${query}`, FILTER_MS] as const,
  ),
  ...['reason=mismatch', 'reason=age', 'profile=default', 'profile=none', 'since={since}', 'until={half}'].map(
    (query) => [`/api/requests?limit=50&${query}`, FILTER_MS] as const,
  ),
  ...['route=route-7&outcome=invalid_signature', 'route=route-7&reason=age'].map(
    (query) => [`/api/requests?limit=50&${query}`, FILTER_MS] as const,
  ),
  ['/api/requests?limit=50&grep=d-99999', FILTER_MS],
  ['/api/requests?limit=50&grep=nowhere', FILTER_MS],
];

/** A row of `dispatch` and of its work, in order. */
function rowOf(n: number, at: number) {
  const state = n % 1000 === 1 ? 'dead' : n % 500 === 2 ? 'skipped' : n % 1000 === 3 ? 'pending' : 'done';
  const job = n % 1000 === 7 ? 'job-1' : null;
  const route = job !== null ? null : n % 20_000 === 11 ? 'rare' : `route-${n % 50}`;
  const dispatch = { ...makeDispatch(`bench-${n}`, { accepted_at: at }), route, job, prompt: 'x'.repeat(1500) };
  return { n, at, state, job, route, dispatch, lane: JSON.stringify(['default', route]) };
}

/** Fills the store and the captured requests of a home. */
export async function fillSqlite(home: string): Promise<void> {
  const path = join(home, 'state.db');
  await (await openOfflineStore(path)).close();
  const db = connect(path, { busyMs: 5000 });
  const dispatch = db.change(
    "INSERT INTO dispatch (ref, id, profile, route, job, mode, accepted_at, head, body) VALUES (?, ?, 'default', ?, ?, 'agent', ?, ?, ?)",
  );
  const work = db.change('INSERT INTO work (ref, state, due_at, finished_at, lane, set_at) VALUES (?, ?, ?, ?, ?, ?)');
  const start = Date.now() - COUNT * STEP_MS;
  inTransaction(db, () => {
    for (let n = 1; n <= COUNT; n++) {
      const { at, state, job, route, lane, dispatch: one } = rowOf(n, start + n * STEP_MS);
      dispatch(n, one.id, route, job, at, JSON.stringify(['push', one.id, null, 0]), JSON.stringify(one));
      const isOpen = state === 'pending';
      work(n, state, isOpen ? LATER : null, isOpen ? null : at, isOpen ? lane : null, isOpen ? at : null);
    }
  });
  db.close();
  const file = new RequestFile(capturePath(home));
  for (const rows of requestRows(COUNT, start, BODY)) file.add(rows);
  file.close();
}

async function fillPostgres(url: string): Promise<void> {
  const store = await openPostgresStore({
    url,
    schema: 'hookwright',
    listen: true,
    clock: systemClock,
    log: silentLog,
    node: { url: () => 'http://127.0.0.1', version: 'bench', table: () => null, problem: () => null },
  });
  const start = Date.now() - COUNT * STEP_MS;
  const quoted = (text: string | null): string => (text === null ? 'NULL' : `'${text}'`);
  for (let done = 0; done < COUNT; done += 5000) {
    const rows = Array.from({ length: 5000 }, (_, at) => rowOf(done + at + 1, start + (done + at + 1) * STEP_MS));
    const dispatches = rows.map(
      ({ n, at, route, job, dispatch: one }) =>
        `(${n}, '${one.id}', 'default', ${quoted(route)}, ${quoted(job)}, 'agent', ${at}, '["push","${one.id}",null,0]', '["log"]', '${JSON.stringify(one)}')`,
    );
    const open = rows.filter(({ state }) => state === 'pending');
    const ended = rows.filter(({ state }) => state !== 'pending');
    await runSql(
      url,
      `SET search_path = hookwright; SET synchronous_commit = off;
      INSERT INTO dispatch (ref, id, profile, route, job, mode, accepted_at, head, targets, body) VALUES ${dispatches.join(', ')};
      INSERT INTO work (ref, lane, state, due_at, set_at) VALUES ${open.map(({ n, lane, at }) => `(${n}, '${lane}', 'pending', ${LATER}, ${at})`).join(', ')};
      INSERT INTO ended (ref, state, finished_at) VALUES ${ended.map(({ n, state, at }) => `(${n}, '${state}', ${at})`).join(', ')}`,
    );
  }
  await runSql(url, `SELECT setval('hookwright.dispatch_ref', ${COUNT})`);
  for (const rows of requestRows(COUNT, start, BODY)) await store.state?.requests.add(rows);
  await store.close();
  await runSql(url, 'VACUUM ANALYZE');
}

/** Median and highest of some times, in ms; the first one is not counted. */
async function measure(url: string, path: string): Promise<readonly [half: number, most: number]> {
  const times: number[] = [];
  for (let turn = -1; turn < TIMES; turn++) {
    const began = performance.now();
    const response = await fetch(url + path);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    if (turn >= 0) times.push(performance.now() - began);
  }
  const sorted = Float64Array.from(times).sort();
  return [percentile(sorted, 0.5), percentile(sorted, 1)];
}

/** Settings for a store that keeps everything. */
export const KEEPING = '  capture_max_mb: 4096\n  retention_days: 30\n';

async function ofEngine(lab: Lab, name: string, settings: string, prepare: (home: string) => Promise<void>) {
  return withConsole(
    lab,
    async ({ url }) => {
      const rows: string[][] = [];
      for (const [path, goal] of LISTS) {
        const asked = path
          .replace('{since}', String(Date.now() - 60_000))
          .replace('{half}', String(Date.now() - (COUNT * STEP_MS) / 2))
          .replace('{never}', String(LATER))
          .replace('{middle}', String(COUNT / 2));
        const [half, most] = await measure(url, asked);
        rows.push([`${name} ${path}`, `${half.toFixed(1)} ms`, `${most.toFixed(1)} ms`, '', `<= ${goal} ms`]);
      }
      return rows;
    },
    { settings: `${settings}${KEEPING}`, prepare },
  );
}

/** The figure is the median, and beside it is the highest. */
export async function lists(lab: Lab): Promise<readonly (readonly string[])[]> {
  const sqlite = await ofEngine(lab, 'SQLite', '', fillSqlite);
  const cluster = await Cluster.create({ fsync: true, settings: { shared_buffers: '256MB', max_wal_size: '4GB' } });
  try {
    const store = `  store:\n    postgres: ${cluster.url()}\n`;
    return [...sqlite, ...(await ofEngine(lab, 'PostgreSQL', store, () => fillPostgres(cluster.url())))];
  } finally {
    cluster.remove();
  }
}
