/** The reading connection, which has its own thread in a server: runs queries and makes checkpoints. */

import { messageOf } from '../../../base/errors.ts';
import { isLastError } from '../../../schemas/built/rows/LastError.ts';
import { decodeOr, isCount, StoreDamaged } from '../decode.ts';
import { COUNT_BLOCKED, JOB_NAME } from '../listed-rows.ts';
import type {
  DeadWork,
  LastError,
  Query,
  QueryHandlers,
  QueryKind,
  QueryResults,
  StoreOverview,
  Tally,
} from '../queries.ts';
import type { JobState, JobTick, Ref } from '../records.ts';
import { claimKeys, NOT_PAUSED, readGuard, storedJob } from '../records.ts';
import type { DispatchState } from '../states.ts';
import type { TallyColumn } from '../tally.ts';
import { auditTallies, shownTallies, TALLY_COLUMNS } from '../tally.ts';
import type { UsageSum } from '../usage.ts';
import type { Connect, Connection } from './driver.ts';
import { connect as connectDriver, isMalformed } from './driver.ts';
import { createBytes, createFigureSums } from './handlers.ts';
import { openReading } from './open-database.ts';
import { createDispatchQueries, named, select } from './read-dispatches.ts';
import type { Rescue } from './rescue.ts';

/** What the two connections to a file have in common. */
export interface ReaderOptions {
  readonly path: string;
  /** Default: the driver's. */
  readonly connect?: Connect;
  /** Default: none. */
  readonly rescue?: Rescue | null;
  /** The connection of a store in memory, which has no file to prepare or mark; the writer closes it. */
  readonly shared?: Connection;
}

export type ReaderRequest =
  | { readonly kind: 'read'; readonly queries: readonly Query[] }
  /** For a rescue (rescue.ts); takes seconds. */
  | { readonly kind: 'read_whole'; readonly to: string | null }
  | { readonly kind: 'checkpoint' | 'close' };

export type ReadResult =
  | { readonly kind: 'ok'; readonly value: QueryResults[QueryKind] }
  /** `malformed`: damaged pages; `damaged`: a damaged value. */
  | { readonly kind: 'failed' | 'malformed' | 'damaged'; readonly message: string };

export class Reader {
  private readonly options: ReaderOptions;
  private opened: { readonly db: Connection; readonly queries: QueryHandlers } | null = null;

  constructor(options: ReaderOptions) {
    this.options = options;
  }

  /**
   * Returns, by kind: the results of the queries in order, as JSON; the number of frames in the log; the result of a
   * rescue.
   */
  serve(request: ReaderRequest): string | number | null {
    switch (request.kind) {
      case 'read':
        // As one text: sending it to another thread costs a fraction of cloning the objects.
        return JSON.stringify(request.queries.map((query) => this.read(query)));
      case 'checkpoint': {
        const row = this.open().db.query<[number, number, number]>('PRAGMA wal_checkpoint(PASSIVE)').get();
        return row?.[1] ?? 0;
      }
      case 'read_whole':
        return this.options.rescue?.readWhole(() => this.open().db, request.to) ?? null;
      case 'close':
        if (this.options.shared === undefined) this.opened?.db.close();
        this.opened = null;
        return null;
    }
  }

  private read(query: Query): ReadResult {
    try {
      const { queries } = this.open();
      const ask = queries[query.kind] as (query: Query) => QueryResults[QueryKind];
      return { kind: 'ok', value: ask(query) };
    } catch (error) {
      const kind = error instanceof StoreDamaged ? 'damaged' : isMalformed(error) ? 'malformed' : 'failed';
      return { kind, message: messageOf(error) };
    }
  }

  private open(): { readonly db: Connection; readonly queries: QueryHandlers } {
    if (this.opened !== null) return this.opened;
    const { connect = connectDriver, path, shared, rescue = null } = this.options;
    const db = shared ?? openReading(connect, path);
    this.opened = { db, queries: createQueries(db, rescue) };
    return this.opened;
  }
}

/** The SQL for queries of ../queries.ts about counts and the guard, over a read-only connection. */
function createQueries(db: Connection, rescue: Rescue | null): QueryHandlers {
  const held = db.query('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?');
  const oldestDue = db.query<[number | null]>(
    "SELECT min(due_at) FROM (SELECT due_at FROM work WHERE state = 'pending' AND " +
      `(${NONE_PAUSED} OR ${LANE_OF_ROUTE} NOT IN (${PAUSED})) UNION ALL SELECT due_at FROM delivery WHERE holder IS NULL)`,
  );
  return {
    is_claimed: ({ key, now }) => claimKeys(key).some((name) => held.get(name, now) !== undefined),
    overview: createOverview(db, rescue),
    open_work: createOpenWork(db),
    dead_work: createDeadWork(db),
    oldest_due: ({ now }) => oldestDue.get(now)?.[0] ?? null,
    guard_rows: createGuardRows(db),
    usage: createUsage(db),
    figures: createFigureSums(db),
    nodes: () => [],
    audit: createAudit(db),
    ...createDispatchQueries(db),
    ...createJobQueries(db),
  };
}

/** The lanes of the routes that are paused at ?1. */
const PAUSED = "SELECT key ->> '$' FROM guard_state WHERE kind = 'pause' AND coalesce(expires_at > ?1, 1)";
const NONE_PAUSED = `NOT EXISTS (${PAUSED})`;
/** The same as `routeLane`. */
const LANE_OF_ROUTE = 'substr(lane, 1, instr(lane || char(10), char(10)) - 1)';

function createGuardRows(db: Connection): QueryHandlers['guard_rows'] {
  const rows = db.query<[string, string]>(
    'SELECT key, body FROM guard_state WHERE kind = ? AND body NOT LIKE ? ORDER BY id',
  );
  return ({ of, paused = false }) =>
    rows.all(of, paused ? `%${NOT_PAUSED}` : '').flatMap(([key, body]) => readGuard(of, key, body));
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

function createOverview(db: Connection, rescue: Rescue | null): QueryHandlers['overview'] {
  const tallies = createTallies(db);
  const groups = db.query<[number]>('SELECT count(*) FROM coalesce_group');
  const deliveries = db.query<[number, number]>(
    'SELECT count(*), coalesce(sum(due_at <= ?), 0) FROM delivery WHERE holder IS NULL',
  );
  const oldest = db.query<[number]>(
    'SELECT d.accepted_at FROM work w JOIN dispatch d USING (ref) WHERE w.finished_at IS NULL ORDER BY w.ref LIMIT 1',
  );
  const blocked = db.query<[string, string | null, number]>(COUNT_BLOCKED);
  const lastError = db.query<[string]>("SELECT value FROM meta WHERE key = 'last_error'");
  const bytes = createBytes(db);
  const overview = (now: number): StoreOverview => {
    const counts = tallies();
    const [waiting = 0, due = 0] = deliveries.get(now) ?? [];
    const open = groups.get()?.[0] ?? 0;
    const runs = counts.reduce((sum, { pending }) => sum + pending, 0) - open;
    return {
      tallies: shownTallies(
        counts,
        blocked.all().map(([profile, route, count]) => ({ profile, route, count })),
      ),
      backlog: { runs, deliveries: due, deliveries_delayed: waiting - due, groups: open },
      oldest_open_at: oldest.get()?.[0] ?? null,
      last_error: decodeOr<LastError | null>(lastError.get()?.[0], isLastError, null),
      bytes: bytes(),
      damage: rescue?.damage(db) ?? null,
    };
  };
  return ({ now }) => inSnapshot(db, () => overview(now));
}

function createOpenWork(db: Connection): QueryHandlers['open_work'] {
  // A delivery that has ended has no row in `delivery`.
  const rows = db.query<[string, string | null, string | null, string | null, number]>(
    "SELECT d.profile, d.route, d.job, json_extract(j.value, '$.target'), count(*) FROM work w JOIN dispatch d USING (ref) " +
      "LEFT JOIN json_each(iif(json_valid(d.body), d.body, '{}'), '$.deliveries') j WHERE w.finished_at IS NULL AND (w.state <> 'delivering' OR " +
      'EXISTS (SELECT 1 FROM delivery x WHERE x.ref = w.ref AND x.n = j.key)) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4',
  );
  return () => rows.all().map(([profile, route, job, target, count]) => ({ profile, route, job, target, count }));
}

function createDeadWork(db: Connection): QueryHandlers['dead_work'] {
  const columns = ['d.profile', 'd.route', 'd.job', JOB_NAME, 'count(*) AS count', 'min(w.finished_at) AS since'];
  const from = "FROM work w JOIN dispatch d USING (ref) WHERE w.state = 'dead' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
  const rows = select<DeadWork>(db, columns, from);
  return () => rows.all();
}

function createUsage(db: Connection): QueryHandlers['usage'] {
  const toSum = named<UsageSum>(SUMMED);
  const sums = db.query(
    `SELECT ${SUMMED.join(', ')} FROM usage u JOIN dispatch d USING (ref) WHERE u.at >= ?2 GROUP BY 1, 2, 3, 4, 5 ORDER BY 5, 1, 2, 3, 4`,
  );
  return ({ since, slot_ms }) => sums.all(slot_ms, since).map(toSum);
}

function createAudit(db: Connection): QueryHandlers['audit'] {
  const tallies = createTallies(db);
  const count = db.query<[string, string | null, DispatchState, number]>(
    'SELECT d.profile, d.route, w.state, count(*) FROM dispatch d JOIN work w USING (ref) GROUP BY 1, 2, 3',
  );
  const audit = (): readonly string[] => {
    const stored = count.all().map(([profile, route, state, found]) => ({ profile, route, state, count: found }));
    return auditTallies(tallies(), stored);
  };
  return () => inSnapshot(db, audit);
}

const SUMMED = [
  'd.profile',
  'd.route',
  'd.job',
  'u.agent',
  'u.at / ?1 * ?1 AS slot',
  'count(*) AS runs',
  ...['input_tokens', 'output_tokens', 'cost'].map((name) => `sum(u.${name}) AS ${name}`),
];

type JobQuery = 'jobs' | 'jobs_version' | 'job_ticks';
type StateRow = readonly [
  job: string,
  paused: number | null,
  cursor: number | null,
  signature: string | null,
  ref: Ref | null,
  paused_until: number | null,
];

const readState = ([, paused, cursor, signature, ref, paused_until]: StateRow): JobState => ({
  paused: paused === null ? null : paused === 1,
  paused_until,
  cursor,
  signature,
  ref,
});

/** The SQL for the queries about jobs. */
export function createJobQueries(db: Connection): Pick<QueryHandlers, JobQuery> {
  const records = db.query<[string]>('SELECT body FROM job ORDER BY name, id');
  const states = db.query<StateRow>('SELECT job, paused, cursor, signature, ref, paused_until FROM job_state');
  const version = db.query<[string]>("SELECT value FROM meta WHERE key = 'jobs_version'");
  const ticks = db.query<[number, string, Ref | null, number]>(
    'SELECT due_at, outcome, ref, missed FROM job_tick WHERE job = ? ORDER BY due_at DESC LIMIT ?',
  );
  const jobsVersion = (): number => decodeOr(version.get()?.[0], isCount, 0);
  return {
    jobs: () => ({
      version: jobsVersion(),
      records: records.all().flatMap(([body]) => storedJob(body) ?? []),
      states: Object.fromEntries(states.all().map((row) => [row[0], readState(row)])),
    }),
    jobs_version: jobsVersion,
    job_ticks: ({ job, limit }) =>
      ticks.all(job, limit).map(
        ([due_at, outcome, ref, missed]): JobTick => ({
          due_at,
          outcome: outcome as JobTick['outcome'],
          ref,
          missed,
        }),
      ),
  };
}
