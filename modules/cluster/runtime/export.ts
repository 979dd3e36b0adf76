/** Reads the file of a store that no gateway uses, for a move to another engine. */
import { laneKey } from '../../../runtime/store/identity.ts';
import type { Ref } from '../../../runtime/store/mutations.ts';
import type { Connection } from '../../../runtime/store/sqlite/driver.ts';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import { openWriting } from '../../../runtime/store/sqlite/open-database.ts';
import { stepIds } from '../../../runtime/store/sqlite/rows.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import type { TallyColumn } from '../../../runtime/store/tally.ts';
import { TALLY_COLUMNS } from '../../../runtime/store/tally.ts';
import type { MovedClaim, MovedCount, MovedDelivery, MovedDispatch, MovedRest, MoveSource } from './moved-rows.ts';

/** Most dispatches in one slice, and approximately most bytes of them. */
const SLICE_ROWS = 500;
const SLICE_BYTES = 4 * 1024 * 1024;
const SLICE_CLAIMS = 5000;

/** The caller holds the store's lock and has recovered the work of a killed process. @param newId used if the store has no id */
export function openExport(path: string, newId: string): MoveSource {
  const db = openWriting(connect, path, 'full');
  db.change("INSERT OR IGNORE INTO meta VALUES ('store_id', ?)")(newId);
  return {
    id: db.query<[string]>("SELECT value FROM meta WHERE key = 'store_id'").get()?.[0] ?? newId,
    count: countOf(db),
    dispatches: () => dispatches(db),
    claims: () => claims(db),
    rest: () => restOf(db),
    close: () => db.close(),
  };
}

const COUNTED: Readonly<Record<keyof MovedCount, string>> = {
  dispatches: 'dispatch',
  deliveries: 'delivery',
  answers: 'answer',
  steps: 'step',
  claims: 'claim',
  jobs: 'job',
  job_ticks: 'job_tick',
};

function countOf(db: Connection): MovedCount {
  const counts = Object.entries(COUNTED).map(([kind, table]) => [
    kind,
    db.query<[number]>(`SELECT count(*) FROM ${table}`).get()?.[0] ?? 0,
  ]);
  return Object.fromEntries(counts) as MovedCount;
}

/** Columns in the order of `DispatchColumns`. */
const DISPATCHES =
  'SELECT d.ref, d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.max_concurrent, d.head, d.body, w.state, ' +
  'w.due_at, w.set_at, w.started_at, w.answered_at, w.finished_at, w.reason, w.failed, g.key, g.first_at, g.superseded, ' +
  'a.text FROM dispatch d JOIN work w USING (ref) LEFT JOIN coalesce_group g USING (ref) LEFT JOIN answer a USING (ref) ' +
  'WHERE d.ref BETWEEN ? AND ? ORDER BY d.ref';

type DispatchColumns = readonly [
  ...[ref: Ref, id: string, profile: string, route: string | null, job: string | null, mode: string],
  ...[accepted_at: number, max_concurrent: number | null, head: string, body: string, state: string],
  ...[due_at: number | null, set_at: number | null, started_at: number | null, answered_at: number | null],
  ...[finished_at: number | null, reason: string | null, failed: number, group_key: string | null],
  ...[first_at: number | null, superseded: number | null, answer: string | null],
];

function* dispatches(db: Connection): Generator<readonly MovedDispatch[]> {
  const sizes = db.query<[ref: Ref, bytes: number]>(
    'SELECT d.ref, octet_length(d.body) + coalesce(octet_length(a.text), 0) FROM dispatch d LEFT JOIN answer a USING (ref) ' +
      `WHERE d.ref > ? ORDER BY d.ref LIMIT ${SLICE_ROWS}`,
  );
  const rows = db.query<DispatchColumns>(DISPATCHES);
  const steps = db.query<[id: number, data: string]>('SELECT id, data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const deliveries = db.query<[number, string, number, number]>(
    'SELECT n, lane, due_at, set_at FROM delivery WHERE ref = ? ORDER BY n',
  );
  const belongings = (ref: Ref): Pick<MovedDispatch, 'steps' | 'deliveries'> => {
    const [first, last] = stepIds(ref);
    return {
      steps: steps.all(first, last).map(([id, data]) => ({ n: id - first, data })),
      deliveries: deliveries.all(ref).map(([n, lane, due_at, set_at]): MovedDelivery => ({ n, lane, due_at, set_at })),
    };
  };
  for (let after = -1; ; ) {
    const slice = firstSlice(sizes.all(after));
    if (slice === null) return;
    yield rows.all(...slice).map((row) => ({ ...dispatchOf(row), ...belongings(row[0]) }));
    after = slice[1];
  }
}

/** The first and last ref of the next slice; null when nothing is left. */
function firstSlice(sizes: readonly (readonly [ref: Ref, bytes: number])[]): readonly [Ref, Ref] | null {
  const [first] = sizes;
  if (first === undefined) return null;
  let last = first[0];
  let left = SLICE_BYTES;
  for (const [ref, bytes] of sizes) {
    if (left < bytes && ref !== first[0]) break;
    left -= bytes;
    last = ref;
  }
  return [first[0], last];
}

function dispatchOf(row: DispatchColumns): Omit<MovedDispatch, 'steps' | 'deliveries'> {
  const [ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body, state] = row;
  const [due_at, set_at, started_at, answered_at, finished_at, reason, failed] = row.slice(11, 18) as number[];
  const [group_key, first_at, superseded, answer] = row.slice(18) as [string, number, number, string];
  return {
    ...{ ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body, state: state as DispatchState },
    ...({ due_at, set_at, started_at, answered_at, finished_at, reason, failed } as unknown as MovedDispatch),
    ...{ group_key, first_at, superseded, answer },
  };
}

function* claims(db: Connection): Generator<readonly MovedClaim[]> {
  const rows = db.query<[string, number]>(
    `SELECT key, expires_at FROM claim WHERE key > ? ORDER BY key LIMIT ${SLICE_CLAIMS}`,
  );
  for (let after = ''; ; ) {
    const slice = rows.all(after).map(([key, expires_at]) => ({ key, expires_at }));
    const last = slice.at(-1);
    if (last === undefined) return;
    yield slice;
    after = last.key;
  }
}

function restOf(db: Connection): MovedRest {
  const tallies = db.query<readonly [string, string, number | null, ...number[]]>(
    `SELECT profile, route, max_concurrent, ${TALLY_COLUMNS.join(', ')} FROM tally`,
  );
  const jobs = db.query<[string, string, string, string]>('SELECT id, profile, name, body FROM job');
  const states = db.query<[string, number | null, number | null, string | null, Ref | null]>(
    'SELECT job, paused, cursor, signature, ref FROM job_state',
  );
  const ticks = db.query<[string, number, string, Ref | null, number]>(
    'SELECT job, due_at, outcome, ref, missed FROM job_tick',
  );
  const meta = db.query<[string, string]>("SELECT key, value FROM meta WHERE key IN ('last_error', 'jobs_version')");
  return {
    counts: tallies.all().map(([profile, route, max_concurrent, ...counts]) => ({
      lane: laneKey(profile, route === '' ? null : route),
      max_concurrent,
      counts: Object.fromEntries(TALLY_COLUMNS.map((name, at) => [name, counts[at] ?? 0])) as Record<
        TallyColumn,
        number
      >,
    })),
    jobs: jobs.all().map(([id, profile, name, body]) => ({ id, profile, name, body })),
    job_states: states.all().map(([job, paused, cursor, signature, ref]) => ({
      ...{ job, paused: paused === null ? null : paused !== 0, cursor, signature, ref },
    })),
    job_ticks: ticks.all().map(([job, due_at, outcome, ref, missed]) => ({ job, due_at, outcome, ref, missed })),
    meta: meta.all().map(([key, value]) => ({ key, value })),
  };
}
