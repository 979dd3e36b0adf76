/** The SQL for the queries of ../queries.ts, over a connection that only reads. */
import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { earlierNeeded, fillEvents } from '../burst.ts';
import { decodeOr, StoreDamaged } from '../decode.ts';
import { guardKey, readGuard } from '../guard-mutations.ts';
import { claimKey, sessionName } from '../identity.ts';
import type { IsHeldUp, ListedRow, StoredRow } from '../listed-rows.ts';
import { readListed, readStored } from '../listed-rows.ts';
import type { Ref } from '../mutations.ts';
import type {
  AgentsNow,
  DamageReport,
  DispatchSummary,
  LastError,
  ListFilter,
  QueryHandlers,
  StoredDispatch,
  StoreOverview,
  Tally,
  WaitingDelivery,
} from '../queries.ts';
import { MOST_TURNS } from '../queries.ts';
import type { SaidRow } from '../said.ts';
import { resetRow, saidIn, toldRows } from '../said.ts';
import type { DispatchState } from '../states.ts';
import { DISPATCH_STATES, isFinal } from '../states.ts';
import type { TallyColumn } from '../tally.ts';
import { auditTallies, TALLY_COLUMNS } from '../tally.ts';
import { findHeldUp } from '../unit/agent-room.ts';
import type { UsageSum } from '../usage.ts';
import { countWaits, FOR_BUDGET } from '../wait-counts.ts';
import { backUp } from './backup.ts';
import { createBytes } from './cleanup.ts';
import { readAside } from './damaged-rows.ts';
import type { Connection, Row } from './driver.ts';
import { createFigureSums } from './figures.ts';
import { stepIds } from './memory.ts';
import { createJobQueries } from './read-jobs.ts';
import { RUNNING } from './take-work.ts';

export function createQueries(db: Connection): QueryHandlers {
  const held = db.query('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?');
  const exact = db.query<[Ref]>('SELECT ref FROM dispatch WHERE id = ?');
  const beginning = db.query<[Ref]>('SELECT ref FROM dispatch WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT 2');
  const ended = db.query<[string]>(
    'SELECT d.id FROM json_each(?) CROSS JOIN dispatch d ON d.id = value JOIN work w USING (ref) ' +
      "WHERE w.state IN ('done', 'dead', 'skipped')",
  );
  const load = createLoad(db);
  const heldUp = createHeldUp(db);
  const oldestDue = db.query<[number | null]>(
    'SELECT min(due_at) FROM (' +
      `SELECT due_at FROM work WHERE state = 'pending' AND (${NONE_PAUSED} OR ${LANE_OF_ROUTE} NOT IN (${PAUSED})) UNION ALL SELECT due_at FROM delivery WHERE holder IS NULL)`,
  );
  return {
    is_claimed: ({ key, now }) => held.get(claimKey(key), now) !== undefined,
    load: ({ ref, known }) => load(ref, heldUp(known)),
    find({ id, known: agents }) {
      const known = exact.get(id);
      const found = known === undefined && id !== '' ? beginning.all(id) : [known];
      if (found.length > 1) return { kind: 'ambiguous' };
      const ref = found[0]?.[0];
      const dispatch = ref === undefined ? null : load(ref, heldUp(agents));
      return dispatch === null ? { kind: 'unknown' } : { kind: 'found', dispatch };
    },
    ended: ({ ids }) => ended.all(JSON.stringify(ids)).map(([id]) => id),
    list: ({ filter, known }) => list(db, filter, heldUp(known)),
    sessions: createSessions(db, heldUp),
    waits: createWaits(db, heldUp),
    said: createSaid(db),
    overview: createOverview(db),
    open_work: createOpenWork(db),
    dead_work: createDeadWork(db),
    oldest_due: ({ now }) => oldestDue.get(now)?.[0] ?? null,
    guard_rows: createGuardRows(db),
    usage: createUsage(db),
    approvals: createApprovals(db),
    figures: createFigureSums(db),
    nodes: () => [],
    audit: createAudit(db),
    back_up: ({ to }) => ({ bytes: backUp(db, to) }),
    ...createJobQueries(db),
  };
}

/** The lanes of the routes that are paused at ?1. */
const PAUSED = "SELECT key ->> '$' FROM guard_state WHERE kind = 'pause' AND coalesce(expires_at > ?1, 1)";
const NONE_PAUSED = `NOT EXISTS (${PAUSED})`;
/** As `routeLane`. */
const LANE_OF_ROUTE = 'substr(lane, 1, instr(lane || char(10), char(10)) - 1)';

function createGuardRows(db: Connection): QueryHandlers['guard_rows'] {
  const rows = db.query<[string, string]>('SELECT key, body FROM guard_state WHERE kind = ? ORDER BY id');
  return ({ of }) => rows.all(of).flatMap(([key, body]) => readGuard(of, key, body));
}

const CONDITIONS = [
  ['route', 'd.route = ?'],
  ['job', 'd.job = ?'],
  ['since', 'd.accepted_at >= ?'],
  ['before', 'w.ref < ?'],
] as const satisfies readonly (readonly [keyof ListFilter, string])[];

function list(db: Connection, filter: ListFilter, isHeldUp: IsHeldUp): readonly DispatchSummary[] {
  const given = CONDITIONS.filter(([name]) => filter[name] !== undefined);
  const where: string[] = given.map(([, condition]) => condition);
  // A literal, because SQLite uses a partial index only for literals.
  const state = DISPATCH_STATES.find((known) => known === filter.state);
  if (state !== undefined) where.push(`w.state = '${state}'`);
  if (filter.oldest_open || (state !== undefined && !isFinal(state))) where.push('w.finished_at IS NULL');
  const rows = db.query(
    `SELECT ${LISTED.join(', ')} FROM work w JOIN dispatch d USING (ref) ` +
      `${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY w.ref ${filter.oldest_open ? 'ASC' : 'DESC'} LIMIT ?`,
  );
  const found = rows.all(...given.map(([name]) => filter[name] as string | number), filter.limit);
  return found.map((row) => readListed(named<ListedRow>(LISTED, row), isHeldUp));
}

function createHeldUp(db: Connection): (known: AgentsNow | undefined) => IsHeldUp {
  const running = db.query<[string, number]>(RUNNING);
  return (known) => findHeldUp(known, () => running.all());
}

function createSessions(db: Connection, heldUp: (known?: AgentsNow) => IsHeldUp): QueryHandlers['sessions'] {
  const waiting = '(SELECT count(*) FROM work e WHERE e.session = w.session AND e.waits_for IS NOT NULL) AS waiting';
  const columns = [...LISTED, waiting];
  const busy = db.query(
    `SELECT ${columns.join(', ')} FROM work w JOIN dispatch d USING (ref) ` +
      'WHERE w.session IS NOT NULL AND w.waits_for IS NULL AND d.profile = ? ORDER BY w.ref',
  );
  return ({ profile, known }) => {
    const isHeldUp = heldUp(known);
    return busy.all(profile).map((found) => {
      const { waiting: count, ...row } = named<ListedRow & { readonly waiting: number }>(columns, found);
      const run = readListed(row, isHeldUp);
      return { session: run.session ?? '', run, waiting: count };
    });
  };
}

function createWaits(db: Connection, heldUp: (known?: AgentsNow) => IsHeldUp): QueryHandlers['waits'] {
  const turns = db.query<[number, number]>(
    'SELECT count(*) FILTER (WHERE waits_for IS NOT NULL), count(DISTINCT session) FROM work WHERE session IS NOT NULL',
  );
  const lanes = db.query<[string, number, number]>(
    'SELECT lane, count(*) FILTER (WHERE reason IS ?1), count(*) FILTER (WHERE due_at <= ?2 AND reason IS NOT ?1) FROM work ' +
      "WHERE state = 'pending' AND waits_for IS NULL GROUP BY lane",
  );
  return ({ known }) => {
    const [session = 0, sessions = 0] = turns.get() ?? [];
    const now = known?.now ?? 0;
    const rows = lanes.all(FOR_BUDGET, now).map(([lane, budget, due]) => ({ lane, budget, due }));
    return countWaits({ session, sessions }, rows, heldUp(known), now);
  };
}

/** Returns a function that puts the list of its burst into a dispatch. */
function createWhole(db: Connection): (ref: Ref, dispatch: Dispatch) => Dispatch {
  const before = db.query<[string]>(
    'SELECT body FROM dispatch WHERE burst = (SELECT burst FROM dispatch WHERE ref = ?1) AND ref < ?1 ORDER BY ref DESC LIMIT ?2',
  );
  return (ref, dispatch) => {
    const needed = earlierNeeded(dispatch);
    const earlier = needed === 0 ? [] : before.all(ref, needed).map(([body]) => body);
    return fillEvents(dispatch, earlier);
  };
}

function createSaid(db: Connection): QueryHandlers['said'] {
  const columns = ['d.ref', 'd.body', 'a.text AS answer', 'w.answered_at'];
  const latest = db.query(
    `SELECT ${columns.join(', ')} FROM dispatch d JOIN answer a USING (ref) JOIN work w USING (ref) ` +
      'WHERE d.session = ? AND w.answered_at IS NOT NULL AND a.text <> \'""\' ORDER BY d.ref DESC LIMIT ?',
  );
  const reset = db.query<[string]>('SELECT body FROM guard_state WHERE id = ?');
  const whole = createWhole(db);
  return (query) => {
    const rows = latest.all(sessionName(query.of), query.turns).map((row) => named<SaidRow>(columns, row));
    const told = toldRows(rows, reset.get(guardKey(resetRow(query.of)))?.[0]);
    return saidIn(
      told.map((row) => ({ ...row, dispatch: whole(row.ref, row.dispatch) })),
      query,
    );
  };
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
  const parsed = <T>(key: string): T | null => decodeOr(meta.get(key)?.[0] ?? 'null', () => true, null);
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
      damage: parsed<DamageReport>('broken_file') ?? unseen(parsed<DamageReport>('damage')) ?? readAside(db),
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
  const rows = db.query<[string, string | null, string | null, number, number]>(
    'SELECT d.profile, d.route, d.job, count(*), min(w.finished_at) FROM work w JOIN dispatch d USING (ref) ' +
      "WHERE w.state = 'dead' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
  );
  return () => rows.all().map(([profile, route, job, count, since]) => ({ profile, route, job, count, since }));
}

function createUsage(db: Connection): QueryHandlers['usage'] {
  const sums = db.query(
    `SELECT ${SUMMED.join(', ')} FROM usage u JOIN dispatch d USING (ref) WHERE u.at >= ?2 GROUP BY 1, 2, 3, 4, 5 ORDER BY 5, 1, 2, 3, 4`,
  );
  return ({ since, slot_ms }) => sums.all(slot_ms, since).map((row) => named<UsageSum>(SUMMED, row));
}

function createApprovals(db: Connection): QueryHandlers['approvals'] {
  const waiting = db.query(
    `SELECT ${WAITED.join(', ')} FROM delivery x JOIN dispatch d USING (ref) WHERE ${IS_ASKED} ORDER BY x.ref, x.n`,
  );
  type Row = Omit<WaitingDelivery, 'index'> & { readonly n: number };
  return () =>
    waiting.all().map((row) => {
      const { n, ...rest } = named<Row>(WAITED, row);
      return { ...rest, index: n };
    });
}

/** The report is no longer shown once the operator has removed the copy of the damaged file. */
const unseen = (damage: DamageReport | null): DamageReport | null =>
  damage === null || damage.copy === null || existsSync(damage.copy) ? damage : null;

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
  ...['d.profile', 'd.route', 'd.job', 'u.agent', 'u.at / ?1 * ?1 AS slot', 'count(*) AS runs'],
  ...['input_tokens', 'output_tokens', 'cost'].map((name) => `sum(u.${name}) AS ${name}`),
];
/** It waits for a person. */
const IS_ASKED = "x.waiting IS NOT NULL AND x.waiting <> 'rejected' AND x.holder IS NULL";
const WAITED = [
  ...['x.ref', 'x.n', 'd.id', 'd.profile', 'd.route', 'd.job', 'x.set_at AS since', 'x.due_at AS expires_at'],
  'x.waiting',
];
const ASKED = `SELECT min(x.set_at) FROM delivery x WHERE x.ref = w.ref AND ${IS_ASKED}`;
const USED = 'SELECT json_array(sum(input_tokens), sum(output_tokens), sum(cost)) FROM usage u WHERE u.ref = d.ref';
const TURN = `SELECT 1 + count(*) FROM (SELECT 1 FROM work e WHERE e.session = w.session AND e.turn < w.turn LIMIT ${MOST_TURNS - 1})`;
const LISTED = [
  ...['ref', 'id', 'profile', 'route', 'job', 'mode', 'accepted_at', 'head'].map((name) => `d.${name}`),
  ...['state', 'started_at', 'answered_at', 'finished_at', 'reason'].map((name) => `w.${name}`),
  ...['lane', 'due_at', 'waits_for', 'waits_since'].map((name) => `w.${name}`),
  ...[`(${ASKED}) AS asked_at`, `(${USED}) AS usage`, `CASE WHEN w.session IS NOT NULL THEN (${TURN}) END AS turn`],
];
const STORED = [...LISTED, 'd.max_concurrent', 'd.body', 'a.text AS answer', 'a.program'];

/** A row with the names of its columns. */
function named<T>(columns: readonly string[], row: Row): T {
  const names = columns.map((column) => column.replace(/^.*[. ]/, ''));
  return Object.fromEntries(names.map((name, at) => [name, row[at]])) as T;
}

/** Returns a function that loads a complete dispatch; null when there is none with this ref. */
function createLoad(db: Connection): (ref: Ref, isHeldUp: IsHeldUp) => StoredDispatch | null {
  const one = db.query(
    `SELECT ${STORED.join(', ')} FROM dispatch d JOIN work w USING (ref) LEFT JOIN answer a USING (ref) WHERE d.ref = ?`,
  );
  const steps = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const whole = createWhole(db);
  const texts = db.query<[Uint8Array | null]>(
    'SELECT CAST(head AS BLOB) FROM dispatch WHERE ref = ?1 UNION ALL SELECT CAST(body AS BLOB) FROM dispatch WHERE ref = ?1 ' +
      'UNION ALL SELECT CAST(text AS BLOB) FROM answer WHERE ref = ?1 ' +
      'UNION ALL SELECT CAST(data AS BLOB) FROM step WHERE id BETWEEN ?2 AND ?3',
  );
  return (ref, isHeldUp) => {
    const row = one.get(ref);
    if (row === undefined) return null;
    const found = steps.all(...stepIds(ref)).map(([data]) => data);
    // The driver reads invalid UTF-8 as U+FFFD, which a text may contain as well.
    const isUnsure = [...row, ...found].some((value) => typeof value === 'string' && value.includes('\ufffd'));
    if (isUnsure && !texts.all(ref, ...stepIds(ref)).every(([text]) => text === null || isUtf8(text)))
      throw new StoreDamaged(`a text of delivery ${String(row[1])} is not what was written`);
    const stored = readStored(named<StoredRow>(STORED, row), found, isHeldUp);
    return { ...stored, dispatch: whole(ref, stored.dispatch) };
  };
}
