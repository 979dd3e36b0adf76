/**
 * Loads and locks the rows that a series of changes needs. All locks are taken first, in key order. Rows that depend on
 * a locked row are read by a later statement, because each statement sees the database at its own start.
 */
import { groupBy } from '../../../../base/group-by.ts';
import { decodeOr, fieldsOf, isText } from '../../../../runtime/store/decode.ts';
import type { HeadTarget } from '../../../../runtime/store/group-commit.ts';
import type { GuardRow, Ref } from '../../../../runtime/store/records.ts';
import { claimKeys, guardKey, laneKey, pauseOfRoute } from '../../../../runtime/store/records.ts';
import type { Step } from '../../../../runtime/store/states.ts';
import type { UnitChange } from '../../../../runtime/store/unit/apply.ts';
import { groupKey } from '../../../../runtime/store/unit/apply.ts';
import type {
  DeliveryRow,
  HeadRow,
  JobRow,
  MessageRow,
  UnitRows,
  WorkRow,
} from '../../../../runtime/store/unit/rows.ts';
import { PLAIN_WORK } from '../../../../runtime/store/unit/rows.ts';
import { isStep } from '../../../../schemas/built/rows/Step.ts';
import type { PgConnection } from './driver.ts';
import { DELIVERY, WORK } from './schema.ts';
import { shortenedKey } from './store-unit.ts';

/** The keys to look up for a series of changes. */
class Needs {
  dispatches = 0;
  readonly claims = new Set<string>();
  readonly messages = new Set<string>();
  /** Dispatches that are sent again. */
  readonly replayed = new Set<Ref>();
  readonly lanes = new Set<string>();
  readonly groups = new Set<string>();
  /** The sessions in which events get their turns, and those whose earlier runs an event replaces. */
  readonly sessions = new Set<string>();
  readonly wholeSessions = new Set<string>();
  readonly work = new Set<Ref>();
  readonly heads = new Set<Ref>();
  /** Dispatches whose steps are needed, because the outcomes of their deliveries decide their final state. */
  readonly steps = new Set<Ref>();
  readonly jobs = new Set<string>();
  readonly guard = new Set<string>();
  readonly ticks: { readonly job: string; readonly due_at: number }[] = [];

  add(change: UnitChange): void {
    const claim = 'claim' in change ? change.claim : 'key' in change ? change.key : null;
    for (const name of claimKeys(claim)) {
      const key = shortenedKey(name);
      this.claims.add(key);
      if (isOfMessage(change)) this.messages.add(key);
    }
    if (change.kind === 'put_guard' && change.held !== undefined) this.work.add(change.held.ref);
    if (change.kind === 'resend') this.replayed.add(change.ref);
    const added = change.kind === 'advance' ? change.message : 'dispatch' in change ? change.dispatch : null;
    if (added !== null && added !== undefined) {
      this.dispatches++;
      this.lanes.add(laneKey(added.profile, added.route));
      if ('turn_key' in added && added.turn_key !== null)
        (added.on_newer === undefined ? this.sessions : this.wholeSessions).add(shortenedKey(added.turn_key));
    }
    if (change.kind === 'join_group') {
      this.groups.add(shortenedKey(groupKey(change.dispatch.profile, change.dispatch.route, change.key)));
    }
    if ('ref' in change) {
      this.work.add(change.ref);
      const hasReason = change.kind === 'advance' && change.reason !== undefined;
      if (change.kind === 'record_attempt' || hasReason) this.heads.add(change.ref);
    }
    if (change.kind === 'record_attempt' && change.due_at === null) this.steps.add(change.ref);
    for (const of of guardedBy(change)) this.guard.add(shortenedKey(guardKey(of)));
    const job = change.kind === 'begin_run' ? change.job?.id : 'job' in change ? change.job : undefined;
    if (job !== undefined) this.jobs.add(job);
    if (change.kind === 'tick_job') this.ticks.push({ job: change.job, due_at: change.due_at });
  }
}

const isOfMessage = (change: UnitChange): boolean =>
  change.kind === 'record_attempt' ||
  change.kind === 'resend' ||
  (change.kind === 'accept' && change.work.kind !== 'run');

function guardedBy(change: UnitChange): readonly Pick<GuardRow, 'kind' | 'key'>[] {
  if (change.kind === 'put_guard') return [change.row];
  if (change.kind === 'pause_route')
    return (['pause', 'action'] as const).map((kind) => ({ ...pauseOfRoute(change.profile, change.route), kind }));
  const limits = change.kind === 'join_group' ? change.run_limits : 'limits' in change ? change.limits : undefined;
  // The pause of its route determines what happens to a message; runs are only not taken.
  const isAsked = change.kind === 'accept' && change.work.kind !== 'run';
  const asked = isAsked ? [pauseOfRoute(change.dispatch.profile, change.dispatch.route)] : [];
  return [...asked, ...(limits ?? [])];
}

const REFS = "SELECT nextval('dispatch_ref') AS ref FROM generate_series(1, $1::integer)";
const CLAIMS = 'SELECT key, expires_at FROM claim WHERE key = ANY($1) ORDER BY key FOR UPDATE';
const MESSAGES = 'SELECT key, ref, ttl_ms FROM message WHERE key = ANY($1) ORDER BY key FOR UPDATE';
const LIMITS = 'SELECT lane, max_concurrent FROM lane WHERE lane = ANY($1)';
const WORK_COLUMNS = Object.keys(WORK)
  .map((name) => (name === 'turn' ? 'coalesce(turn, ref) AS turn' : name))
  .join(', ');
const WORK_ROWS = `SELECT ${WORK_COLUMNS} FROM work WHERE ref = ANY($1::bigint[]) ORDER BY ref FOR UPDATE`;
/** The rows of messages, and of dispatches that are sent again. */
const MEANT = 'IN (SELECT unnest($2::bigint[]) UNION SELECT ref FROM message WHERE key = ANY($1))';
const OF_MESSAGES = `SELECT ${WORK_COLUMNS} FROM work WHERE ref ${MEANT} ORDER BY ref FOR UPDATE`;
const ENDED =
  'SELECT e.ref, e.state, e.started_at, e.answered_at, e.reason, d.profile, d.route, ' +
  '(SELECT count(*)::integer FROM step s WHERE s.ref = e.ref) AS steps ' +
  `FROM ended e JOIN dispatch d ON d.ref = e.ref WHERE e.ref ${MEANT} ORDER BY e.ref FOR UPDATE OF e`;
const BODIES = `SELECT ref, body FROM dispatch WHERE ref ${MEANT}`;
const STEPS_OF_MESSAGES = `SELECT ref, data FROM step WHERE ref ${MEANT} ORDER BY ref, n`;
const GROUPS = `SELECT ${WORK_COLUMNS} FROM work WHERE group_key = ANY($1) ORDER BY ref FOR UPDATE`;
/**
 * Runs before any row is numbered, read or locked, so that the events of a session are numbered in the order of their
 * commits: locks the sessions that events join, and those of the runs and groups that change.
 */
const LOCK_SESSIONS =
  'WITH s AS MATERIALIZED (SELECT DISTINCT key FROM (SELECT unnest($1::text[]) UNION ALL SELECT session FROM work WHERE ' +
  'ref = ANY($2::bigint[]) UNION ALL SELECT session FROM work WHERE group_key = ANY($3)) x (key) WHERE key IS NOT NULL), ' +
  "l AS MATERIALIZED (SELECT pg_advisory_xact_lock(h) FROM (SELECT DISTINCT hashtextextended('hookwright session ' || key, 0) " +
  'AS h FROM s ORDER BY 1 OFFSET 0) locks) SELECT key FROM s WHERE (SELECT count(*) FROM l) >= 0';
/** The first $2 rows of each session. Only the holder of a session's lock changes its rows. */
const SESSIONS =
  `SELECT w.* FROM unnest($1::text[]) s CROSS JOIN LATERAL (SELECT ${WORK_COLUMNS} FROM work ` +
  'WHERE session = s ORDER BY work.turn LIMIT $2) w';
/** All rows of the sessions in which an event replaces others, which may be taken at the same time. */
const WHOLE_SESSIONS = `SELECT ${WORK_COLUMNS} FROM work WHERE session = ANY($1) ORDER BY ref FOR UPDATE`;
const JOBS =
  'SELECT job, paused, paused_until, "cursor", ref FROM job_state WHERE job = ANY($1) ORDER BY job FOR UPDATE';
/** The latest runs of jobs, which are only read. */
const JOB_RUNS = `SELECT ${WORK_COLUMNS} FROM work WHERE ref IN (SELECT ref FROM job_state WHERE job = ANY($1))`;
/** The pauses of all routes, because it is not known yet which of them hold runs of jobs. */
const PAUSES = "SELECT id, body FROM guard_state WHERE kind = 'pause'";
const GUARD = 'SELECT id, body FROM guard_state WHERE id = ANY($1) ORDER BY id FOR UPDATE';
const HEADS = 'SELECT ref, id, profile, route, job, targets FROM dispatch WHERE ref = ANY($1::bigint[])';
const DELIVERIES = `SELECT ${Object.keys(DELIVERY).join(', ')} FROM delivery WHERE ref = ANY($1::bigint[]) ORDER BY ref, n FOR UPDATE`;
const STEPS = 'SELECT ref, data FROM step WHERE ref = ANY($1::bigint[]) ORDER BY ref, n';
const TICKS =
  'SELECT job, due_at FROM job_tick WHERE (job, due_at) IN ' +
  '(SELECT job, due_at FROM json_to_recordset($1::json) AS x(job text, due_at bigint))';

type StoredHead = HeadRow & {
  readonly ref: Ref;
  /** JSON. */
  readonly targets: string;
};

type EndedRow = Pick<WorkRow, 'ref' | 'state' | 'started_at' | 'answered_at' | 'reason' | 'steps'> &
  Pick<HeadRow, 'profile' | 'route'>;

interface Loaded {
  readonly refs: readonly { readonly ref: Ref }[];
  readonly claims: readonly { readonly key: string; readonly expires_at: number }[];
  readonly messages: readonly (MessageRow & { readonly key: string })[];
  readonly ended: readonly EndedRow[];
  readonly bodies: readonly { readonly ref: Ref; readonly body: string }[];
  readonly limits: readonly { readonly lane: string; readonly max_concurrent: number | null }[];
  readonly work: readonly WorkRow[];
  readonly grouped: readonly WorkRow[];
  readonly queued: readonly WorkRow[];
  readonly jobs: readonly JobRow[];
  readonly guard: readonly { readonly id: string; readonly body: string }[];
  readonly heads: readonly StoredHead[];
  readonly deliveries: readonly DeliveryRow[];
  readonly steps: readonly { readonly ref: Ref; readonly data: string }[];
  readonly ticks: readonly { readonly job: string; readonly due_at: number }[];
}

/** The results, by name, of statements that are sent together in this order. */
async function together<T extends object>(asked: T): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.all(Object.values(asked));
  return Object.fromEntries(Object.keys(asked).map((name, at) => [name, results[at]])) as never;
}

/** Loads the rows, within a transaction. */
export async function loadUnit(db: PgConnection, changes: readonly UnitChange[]): Promise<UnitRows> {
  const needs = new Needs();
  for (const change of changes) needs.add(change);
  // Statements without keys are left out.
  const ask = async <R extends object>(sql: string, keys: ReadonlySet<string | number>): Promise<readonly R[]> =>
    keys.size === 0 ? [] : db.query<R>(sql, [[...keys]]);
  const ofMessages = async <R extends object>(sql: string): Promise<readonly R[]> =>
    needs.messages.size + needs.replayed.size === 0 ? [] : db.query<R>(sql, [[...needs.messages], [...needs.replayed]]);
  const found = await together({
    locked: lockSessions(db, [...needs.sessions, ...needs.wholeSessions], needs.work, needs.groups),
    refs: needs.dispatches === 0 ? [] : db.query<Loaded['refs'][number]>(REFS, [needs.dispatches]),
    // Before runs: a change that fires a job locks its row first, and then that of a run.
    jobs: ask<JobRow>(JOBS, needs.jobs),
    claims: ask<Loaded['claims'][number]>(CLAIMS, needs.claims),
    messages: ask<Loaded['messages'][number]>(MESSAGES, needs.messages),
    limits: ask<Loaded['limits'][number]>(LIMITS, needs.lanes),
    work: ask<WorkRow>(WORK_ROWS, needs.work),
    held: ofMessages<WorkRow>(OF_MESSAGES),
    ended: ofMessages<EndedRow>(ENDED),
    bodies: ofMessages<Loaded['bodies'][number]>(BODIES),
    earlier: ofMessages<Loaded['steps'][number]>(STEPS_OF_MESSAGES),
    grouped: ask<WorkRow>(GROUPS, needs.groups),
    fired: ask<WorkRow>(JOB_RUNS, needs.jobs),
    pauses: needs.jobs.size === 0 ? [] : db.query<Loaded['guard'][number]>(PAUSES),
    guarded: ask<Loaded['guard'][number]>(GUARD, needs.guard),
    heads: ask<StoredHead>(HEADS, needs.heads),
    deliveries: ask<DeliveryRow>(DELIVERIES, needs.work),
    counted: ask<Loaded['steps'][number]>(STEPS, needs.steps),
    ticks: needs.ticks.length === 0 ? [] : db.query<Loaded['ticks'][number]>(TICKS, [JSON.stringify(needs.ticks)]),
  });
  const { work, held, fired, counted, earlier, pauses, guarded } = found;
  // The steps of a message may be requested twice.
  const asked = new Set(counted.map(({ ref }) => ref));
  return rowsOf({
    ...found,
    queued: await loadSessions(db, found.locked, changes.length + 1, needs.wholeSessions),
    work: [...fired, ...work, ...held],
    steps: [...counted, ...earlier.filter(({ ref }) => !asked.has(ref))],
    guard: [...pauses, ...guarded],
  });
}

/** Locks these sessions and those of the rows; returns all of them. */
async function lockSessions(
  db: PgConnection,
  joined: readonly string[],
  refs: Iterable<Ref>,
  groups: Iterable<string> = [],
): Promise<readonly string[]> {
  const found = await db.query<{ key: string }>(LOCK_SESSIONS, [joined, [...refs], [...groups]]);
  return found.map(({ key }) => key);
}

/** The first rows of locked sessions, and all rows of some of them. */
async function loadSessions(
  db: PgConnection,
  locked: readonly string[],
  limit: number,
  whole: ReadonlySet<string> = new Set(),
): Promise<readonly WorkRow[]> {
  const others = locked.filter((key) => !whole.has(key));
  const [first, all] = await Promise.all([
    others.length === 0 ? [] : db.query<WorkRow>(SESSIONS, [others, limit]),
    whole.size === 0 ? [] : db.query<WorkRow>(WHOLE_SESSIONS, [[...whole]]),
  ]);
  return [...first, ...[...all].sort((a, b) => a.turn - b.turn)];
}

/** Loads the abandoned rows for `recover`. */
export async function loadLeft(db: PgConnection, refs: readonly Ref[]): Promise<UnitRows> {
  const locked = await lockSessions(db, [], refs);
  const [work, heads, queued] = await Promise.all([
    db.query<WorkRow>(WORK_ROWS, [refs]),
    db.query<StoredHead>(HEADS, [refs]),
    loadSessions(db, locked, refs.length + 1),
  ]);
  return rowsOf({ work, heads, queued });
}

/** @param loaded rows that were not asked for are left out */
function rowsOf({
  refs = [],
  queued = [],
  grouped = [],
  steps = [],
  deliveries = [],
  ...loaded
}: Partial<Loaded>): UnitRows {
  const numbers = refs.map(({ ref }) => ref);
  const heads = mapOf(loaded.heads, (row) => [row.ref, row]);
  const stepsByRef = groupBy(steps, ({ ref }) => ref);
  const bodies = mapOf(loaded.bodies, ({ ref, body }) => [ref, body]);
  const work = mapOf([...queued, ...(loaded.work ?? []), ...grouped], (row) => [row.ref, row]);
  const sessions = new Map<string, WorkRow[]>();
  for (const { ref, session } of queued) {
    const row = work.get(ref);
    if (row !== undefined && session !== null) sessions.set(session, [...(sessions.get(session) ?? []), row]);
  }
  const ticks = new Set(loaded.ticks?.map(({ job, due_at }) => tickKey(job, due_at)));
  return {
    nextRef() {
      const ref = numbers.shift();
      if (ref === undefined) throw new Error('no number is left for a dispatch');
      return ref;
    },
    keyOf: shortenedKey,
    claims: mapOf(loaded.claims, ({ key, expires_at }) => [key, expires_at]),
    messages: mapOf(loaded.messages, ({ key, ref, ttl_ms }) => [key, { ref, ttl_ms }]),
    ended: mapOf(loaded.ended, (row) => [row.ref, workOf(row)]),
    bodyOf: (ref) => bodies.get(ref),
    limits: mapOf(loaded.limits, ({ lane, max_concurrent }) => [lane, max_concurrent]),
    work,
    sessions,
    wholeSession: (key) => sessions.get(key) ?? [],
    groups: mapOf(grouped, ({ group_key, ref }) => [group_key ?? '', ref]),
    deliveries: mapOf([...groupBy(deliveries, ({ ref }) => ref)], ([ref, rows]) => [
      ref,
      mapOf(rows, (row) => [row.n, row]),
    ]),
    jobs: mapOf(loaded.jobs, (row) => [row.job, row]),
    guard: mapOf(loaded.guard, ({ id, body }) => [id, body]),
    headOf: (ref) => heads.get(ref),
    targetsOf: (ref) => readTargets(heads.get(ref)?.targets ?? '[]'),
    stepsOf: (ref) =>
      (stepsByRef.get(ref) ?? []).flatMap(({ data }) => decodeOr<Step | null>(data, isStep, null) ?? []),
    hasTick: (job, due_at) => ticks.has(tickKey(job, due_at)),
  };
}

const isHead = fieldsOf<Pick<HeadTarget, 'target'>>({ target: isText });

/** Damaged ones are none, so that an edited row stops no other work. */
export const readTargets = (targets: string): readonly HeadTarget[] =>
  decodeOr(targets, (value) => Array.isArray(value) && value.every(isHead), []);

const workOf = ({ profile, route, ...row }: EndedRow): WorkRow => {
  const lane = laneKey(profile, route);
  return { ...PLAIN_WORK, ...row, lane, due_at: 0, set_at: 0, turn: row.ref };
};

const tickKey = (job: string, due_at: number): string => JSON.stringify([job, due_at]);

const mapOf = <Row, Key, Value>(rows: readonly Row[] = [], entryOf: (row: Row) => [Key, Value]): Map<Key, Value> =>
  new Map(rows.map(entryOf));
