/** The SQL for the queries of ../queries.ts, over a connection that only reads. */
import { existsSync } from 'node:fs';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { claimKey } from '../identity.ts';
import type { Ref, Step } from '../mutations.ts';
import type {
  DamageReport,
  DispatchSummary,
  LastError,
  ListFilter,
  QueryHandlers,
  StoredDispatch,
  StoreOverview,
  Tally,
} from '../queries.ts';
import type { DispatchState } from '../states.ts';
import { DISPATCH_STATES, isFinal } from '../states.ts';
import type { TallyColumn } from '../tally.ts';
import { auditTally, TALLY_COLUMNS } from '../tally.ts';
import { createBytes } from './cleanup.ts';
import type { Connection } from './driver.ts';
import { createJobQueries } from './read-jobs.ts';
import { stepIds } from './rows.ts';

export function createQueries(db: Connection): QueryHandlers {
  const held = db.query('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?');
  const exact = db.query<[Ref]>('SELECT ref FROM dispatch WHERE id = ?');
  const beginning = db.query<[Ref]>('SELECT ref FROM dispatch WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT 2');
  const load = createLoad(db);
  return {
    is_claimed: ({ key, now }) => held.get(claimKey(key), now) !== undefined,
    load: ({ ref }) => load(ref),
    find({ id }) {
      const known = exact.get(id);
      const found = known === undefined && id !== '' ? beginning.all(id) : [known];
      if (found.length > 1) return { kind: 'ambiguous' };
      const ref = found[0]?.[0];
      const dispatch = ref === undefined ? null : load(ref);
      return dispatch === null ? { kind: 'unknown' } : { kind: 'found', dispatch };
    },
    list: ({ filter }) => list(db, filter),
    overview: createOverview(db),
    open_work: createOpenWork(db),
    nodes: () => [],
    audit: createAudit(db),
    ...createJobQueries(db),
  };
}

const CONDITIONS = [
  ['route', 'd.route = ?'],
  ['job', 'd.job = ?'],
  ['since', 'd.accepted_at >= ?'],
  ['before', 'w.ref < ?'],
] as const satisfies readonly (readonly [keyof ListFilter, string])[];

function list(db: Connection, filter: ListFilter): readonly DispatchSummary[] {
  const given = CONDITIONS.filter(([name]) => filter[name] !== undefined);
  const where: string[] = given.map(([, condition]) => condition);
  // A literal, because SQLite uses a partial index only for literals.
  const state = DISPATCH_STATES.find((known) => known === filter.state);
  if (state !== undefined) where.push(`w.state = '${state}'`);
  if (state !== undefined && !isFinal(state)) where.push('w.finished_at IS NULL');
  const rows = db.query<SummaryRow>(
    `SELECT ${SUMMARY_COLUMNS} FROM work w JOIN dispatch d USING (ref) ` +
      `${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY w.ref DESC LIMIT ?`,
  );
  return rows.all(...given.map(([name]) => filter[name] as string | number), filter.limit).map(readSummary);
}

/** Runs all queries of `read` on one snapshot of the file, while the writer continues. */
function inSnapshot<T>(db: Connection, read: () => T): T {
  db.exec('BEGIN');
  try {
    return read();
  } finally {
    db.exec('COMMIT');
  }
}

function createTallies(db: Connection): () => readonly Tally[] {
  const all = db.query<readonly [string, string, ...number[]]>(
    `SELECT profile, route, ${TALLY_COLUMNS.join(', ')} FROM tally ORDER BY profile, route`,
  );
  return () =>
    all.all().map(([profile, route, ...counts]) => {
      const named = TALLY_COLUMNS.map((column, index) => [column, counts[index] ?? 0] as const);
      const columns = Object.fromEntries(named) as Record<TallyColumn, number>;
      return { profile, route: route === '' ? null : route, ...columns };
    });
}

function createOverview(db: Connection): QueryHandlers['overview'] {
  const tallies = createTallies(db);
  const groups = db.query<[number]>('SELECT count(*) FROM coalesce_group');
  const deliveries = db.query<[number, number]>(
    'SELECT count(*), coalesce(sum(due_at <= ?), 0) FROM delivery WHERE holder IS NULL',
  );
  const oldest = db.query<[number]>(
    'SELECT d.accepted_at FROM work w JOIN dispatch d USING (ref) WHERE w.finished_at IS NULL ORDER BY w.ref LIMIT 1',
  );
  const meta = db.query<[string]>('SELECT value FROM meta WHERE key = ?');
  const parsed = <T>(key: string): T | null => JSON.parse(meta.get(key)?.[0] ?? 'null') as T | null;
  const bytes = createBytes(db);
  const overview = (now: number): StoreOverview => {
    const counts = tallies();
    const [waiting = 0, due = 0] = deliveries.get(now) ?? [];
    const open = groups.get()?.[0] ?? 0;
    const runs = counts.reduce((sum, { pending }) => sum + pending, 0) - open;
    return {
      tallies: counts,
      backlog: { runs, deliveries: due, deliveries_delayed: waiting - due, groups: open },
      oldest_open_at: oldest.get()?.[0] ?? null,
      last_error: parsed<LastError>('last_error'),
      bytes: bytes(),
      damage: parsed<DamageReport>('broken_file') ?? unseen(parsed<DamageReport>('damage')),
    };
  };
  return ({ now }) => inSnapshot(db, () => overview(now));
}

function createOpenWork(db: Connection): QueryHandlers['open_work'] {
  // A delivery that has ended has no row in `delivery`.
  const rows = db.query<[string, string | null, string | null, string | null, number]>(
    "SELECT d.profile, d.route, d.job, json_extract(j.value, '$.target'), count(*) FROM work w JOIN dispatch d USING (ref) " +
      "LEFT JOIN json_each(d.body, '$.deliveries') j WHERE w.finished_at IS NULL AND (w.state <> 'delivering' OR " +
      'EXISTS (SELECT 1 FROM delivery x WHERE x.ref = w.ref AND x.n = j.key)) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4',
  );
  return () => rows.all().map(([profile, route, job, target, count]) => ({ profile, route, job, target, count }));
}

/** The report is no longer shown once the operator has removed the copy of the damaged file. */
const unseen = (damage: DamageReport | null): DamageReport | null =>
  damage === null || damage.copy === null || existsSync(damage.copy) ? damage : null;

function createAudit(db: Connection): QueryHandlers['audit'] {
  const tallies = createTallies(db);
  const count = db.query<[string, string, string, number]>(
    "SELECT d.profile, coalesce(d.route, ''), w.state, count(*) FROM dispatch d JOIN work w USING (ref) GROUP BY 1, 2, 3",
  );
  const audit = (): readonly string[] => {
    const stored = new Map<string, Partial<Record<DispatchState, number>>>();
    for (const [profile, route, state, found] of count.all()) {
      const name = `${profile}\n${route}`;
      stored.set(name, { ...stored.get(name), [state]: found });
    }
    return tallies().flatMap((tally) => auditTally(tally, stored.get(`${tally.profile}\n${tally.route ?? ''}`) ?? {}));
  };
  return () => inSnapshot(db, audit);
}

export const SUMMARY_COLUMNS =
  'd.ref, d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.head, ' +
  'w.state, w.started_at, w.answered_at, w.finished_at, w.reason';

export type SummaryRow = readonly [
  ref: Ref,
  id: string,
  profile: string,
  route: string | null,
  job: string | null,
  mode: string,
  accepted_at: number,
  head: string,
  state: string,
  started_at: number | null,
  answered_at: number | null,
  finished_at: number | null,
  reason: string | null,
];

/** Null when an older version kept it in the body. */
const supersededOf = (head: string): number | null => (JSON.parse(head) as [string, string, null, number?])[3] ?? null;

/** Reads a summary from its row. */
export function readSummary(row: SummaryRow): DispatchSummary {
  const [ref, id, profile, route, job, mode, accepted_at, head, state, started_at, answered_at, finished_at] = row;
  const [event, delivery_id, replay_of] = JSON.parse(head) as [string, string, string | null];
  const reason = row[12] === null ? null : (JSON.parse(row[12]) as string);
  return {
    ...{ ref, id, profile, route, job, mode: mode as Dispatch['mode'], event, delivery_id, accepted_at, replay_of },
    ...{ state: state as DispatchState, started_at, answered_at, finished_at, reason },
  };
}

/** Returns a function that loads a complete dispatch; null when there is none with this ref. */
export function createLoad(db: Connection): (ref: Ref) => StoredDispatch | null {
  const one = db.query<readonly [...SummaryRow, number | null, string, string | null]>(
    `SELECT ${SUMMARY_COLUMNS}, d.max_concurrent, d.body, a.text FROM dispatch d JOIN work w USING (ref) ` +
      'LEFT JOIN answer a USING (ref) WHERE d.ref = ?',
  );
  const steps = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  return (ref) => {
    const row = one.get(ref);
    if (row === undefined) return null;
    const [, , , , , , , head, , , , , , max_concurrent, body, answer] = row;
    const dispatch = JSON.parse(body) as Dispatch;
    return {
      ...readSummary(row.slice(0, 13) as unknown as SummaryRow),
      dispatch: { ...dispatch, superseded: supersededOf(head) ?? dispatch.superseded },
      max_concurrent,
      answer: answer === null ? null : (JSON.parse(answer) as string),
      steps: steps.all(...stepIds(ref)).map(([data]) => JSON.parse(data) as Step),
    };
  };
}
