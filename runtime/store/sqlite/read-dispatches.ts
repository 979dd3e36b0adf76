/** The SQL for queries about dispatches, their waits and their sessions, over a read-only connection. */
import { isUtf8 } from 'node:buffer';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { StoreDamaged } from '../decode.ts';
import type { BusyRow, ListedRow, SaidRow, StoredRow } from '../listed-rows.ts';
import {
  BLOCKED_COLUMNS,
  earlierNeeded,
  fillEvents,
  HAS_OWNER,
  HAS_TURN,
  hasOpenState,
  inHead,
  listedColumns,
  readBusy,
  readListed,
  readStored,
  resetRow,
  saidIn,
  textInHead,
  turnsOf,
  WAITING_RUNS,
} from '../listed-rows.ts';
import type {
  BlockedRow,
  DispatchSummary,
  ListFilter,
  QueryHandlers,
  RouteTraffic,
  StoredDispatch,
} from '../queries.ts';
import { MOST_COUNTED } from '../queries.ts';
import type { Ref } from '../records.ts';
import { guardKey, sessionName } from '../records.ts';
import { isFinal, SHOWN_STATES } from '../states.ts';
import type { LaneCount } from '../waits.ts';
import { COUNT_RUNNING, COUNT_SESSIONS, countDue, IS_BLOCKED } from '../waits.ts';
import type { Connection, Row, Value } from './driver.ts';
import { stepIds } from './memory.ts';

type DispatchQuery = 'load' | 'find' | 'ended' | 'list' | 'traffic' | 'sessions' | 'waits' | 'said' | 'blocked';

const LISTED = listedColumns(
  ['state', 'started_at', 'answered_at', 'finished_at', 'reason'].map((name) => `w.${name}`),
  'json_array',
);
const STORED = [...LISTED, 'd.max_concurrent', 'd.body', 'a.text AS answer', 'a.program'];
const toStored = named<StoredRow>(STORED);

export function createDispatchQueries(db: Connection): Pick<QueryHandlers, DispatchQuery> {
  const exact = db.query<[Ref]>('SELECT ref FROM dispatch WHERE id = ?');
  const beginning = db.query<[Ref]>('SELECT ref FROM dispatch WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT 2');
  const ended = db.query<[string]>(
    'SELECT d.id FROM json_each(?) CROSS JOIN dispatch d ON d.id = value JOIN work w USING (ref) ' +
      "WHERE w.state IN ('done', 'dead', 'skipped')",
  );
  const load = createLoad(db);
  return {
    load: ({ ref }) => load(ref),
    find({ id }) {
      const known = exact.get(id);
      const found = known === undefined && id !== '' ? beginning.all(id) : [known];
      if (found.length > 1) return { kind: 'ambiguous' };
      const ref = found[0]?.[0];
      const dispatch = ref === undefined ? null : load(ref);
      return dispatch === null ? { kind: 'unknown' } : { kind: 'found', dispatch };
    },
    ended: ({ ids }) => ended.all(JSON.stringify(ids)).map(([id]) => id),
    list: ({ filter }) => list(db, filter),
    traffic: createTraffic(db),
    sessions: createSessions(db),
    waits: createWaits(db),
    said: createSaid(db),
    blocked: createBlocked(db),
  };
}

/** Returns a function that names the columns of a row. */
export function named<T>(columns: readonly string[]): (row: Row) => T {
  const names = columns.map((column) => column.replace(/^.*[. ]|"/g, ''));
  return (row) => {
    const found: Record<string, unknown> = {};
    for (const [at, name] of names.entries()) found[name] = row[at];
    return found as T;
  };
}

interface Selected<T> {
  get(...values: readonly Value[]): T | undefined;
  all(...values: readonly Value[]): readonly T[];
}

/** A query whose rows are objects with these columns. @param rest from `FROM` on */
export function select<T>(
  db: Connection,
  columns: readonly string[],
  rest: string,
  toRow = named<T>(columns),
): Selected<T> {
  const query = db.query(`SELECT ${columns.join(', ')} ${rest}`);
  return {
    get(...values) {
      const row = query.get(...values);
      return row === undefined ? undefined : toRow(row);
    },
    all: (...values) => query.all(...values).map(toRow),
  };
}

const CONDITIONS = [
  // Rows before the first match and after the last one are not scanned. Without `+`, SQLite searches the table for their refs.
  ['since', '+d.accepted_at >= ? AND w.ref >= (SELECT min(+ref) FROM dispatch WHERE accepted_at >= ?)'],
  ['until', '+d.accepted_at < ? AND w.ref <= (SELECT max(+ref) FROM dispatch WHERE accepted_at < ?)'],
  ['route', 'd.route = ?'],
  ['job', 'd.job = ?'],
  ['before', 'w.ref < ?'],
  ['delivery_id', 'instr(d.head, ?) > 0'],
  ['grep', 'instr(lower(d.head), lower(?)) > 0'],
  ['ids', 'w.ref IN (SELECT ref FROM dispatch WHERE id IN (SELECT value FROM json_each(?)))'],
] as const satisfies readonly (readonly [keyof ListFilter, string])[];

function list(db: Connection, filter: ListFilter): readonly DispatchSummary[] {
  const given = CONDITIONS.filter(([name]) => filter[name] !== undefined);
  const where: string[] = given.map(([, condition], at) => condition.replaceAll('?', `?${at + 1}`));
  // Taken from the known states, because it becomes a literal.
  const state = SHOWN_STATES.find((known) => known === filter.state);
  if (state !== undefined) where.push(isFinal(state) ? `w.state = '${state}'` : hasOpenState(state));
  if (filter.hide_own) where.push(HAS_OWNER);
  if (filter.oldest_open || (state !== undefined && !isFinal(state))) where.push('w.finished_at IS NULL');
  const rows = select<ListedRow>(
    db,
    LISTED,
    'FROM work w JOIN dispatch d USING (ref) ' +
      `${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY w.ref ${filter.oldest_open ? 'ASC' : 'DESC'} LIMIT ?`,
  );
  const texts = { delivery_id: inHead(filter.delivery_id ?? ''), grep: textInHead(filter.grep ?? '') };
  const values = { ...filter, ...texts, ids: JSON.stringify(filter.ids) };
  return rows.all(...given.map(([name]) => values[name] as string | number), filter.limit).map(readListed);
}

function createTraffic(db: Connection): QueryHandlers['traffic'] {
  // Only entries of the index by route are counted; `+` as above.
  const counted =
    'SELECT 1 FROM dispatch WHERE route = value AND ref >= (SELECT min(+ref) FROM dispatch WHERE accepted_at >= ?2)';
  const traffic = select<RouteTraffic>(
    db,
    [
      `(SELECT count(*) FROM (${counted} LIMIT ${MOST_COUNTED})) AS events`,
      '(SELECT accepted_at FROM dispatch WHERE route = value ORDER BY ref DESC LIMIT 1) AS last_at',
    ],
    'FROM json_each(?1) ORDER BY key',
  );
  return ({ routes, since }) => traffic.all(JSON.stringify(routes), since);
}

function createSessions(db: Connection): QueryHandlers['sessions'] {
  const busy = select<BusyRow>(
    db,
    [...LISTED, WAITING_RUNS],
    `FROM work w JOIN dispatch d USING (ref) WHERE ${HAS_TURN} AND d.profile = coalesce(?, d.profile) ORDER BY w.ref`,
  );
  return ({ profile }) => busy.all(profile).map(readBusy);
}

function createWaits(db: Connection): QueryHandlers['waits'] {
  const turns = db.query<[number, number]>(COUNT_SESSIONS);
  const due = db.query<[string, number]>(countDue('?'));
  const running = db.query<[string, number]>(COUNT_RUNNING);
  return ({ now }) => {
    const [session = 0, sessions = 0] = turns.get() ?? [];
    return { session, sessions, due: due.all(now).map(laneCount), running: running.all().map(laneCount) };
  };
}

export const laneCount = ([lane, count]: readonly [string, number]): LaneCount => ({ lane, count });

function createBlocked(db: Connection): QueryHandlers['blocked'] {
  const rest = `FROM delivery x JOIN dispatch d USING (ref) WHERE ${IS_BLOCKED} ORDER BY x.ref, x.n`;
  const blocked = select<BlockedRow>(db, BLOCKED_COLUMNS, rest);
  return () => blocked.all();
}

/** Returns a function that loads a complete dispatch; null when there is none with this ref. */
function createLoad(db: Connection): (ref: Ref) => StoredDispatch | null {
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
  return (ref) => {
    const row = one.get(ref);
    if (row === undefined) return null;
    const found = steps.all(...stepIds(ref)).map(([data]) => data);
    // The driver reads invalid UTF-8 as U+FFFD, which a valid text may also contain.
    const isUnsure = [...row, ...found].some((value) => typeof value === 'string' && value.includes('\ufffd'));
    if (isUnsure && !texts.all(ref, ...stepIds(ref)).every(([text]) => text === null || isUtf8(text)))
      throw new StoreDamaged(`a text of delivery ${String(row[1])} is damaged`);
    const stored = readStored(toStored(row), found);
    return { ...stored, dispatch: whole(ref, stored.dispatch) };
  };
}

/** Returns a function that adds the list of its burst to a dispatch. */
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
  const latest = select<SaidRow>(
    db,
    ['d.ref', 'd.body', 'a.text AS answer', 'w.answered_at'],
    'FROM dispatch d JOIN answer a USING (ref) JOIN work w USING (ref) ' +
      'WHERE d.session = ? AND w.answered_at IS NOT NULL AND a.text <> \'""\' ORDER BY d.ref DESC LIMIT ?',
  );
  const reset = db.query<[string]>('SELECT body FROM guard_state WHERE id = ?');
  const whole = createWhole(db);
  return (query) => {
    const rows = latest.all(sessionName(query.of), query.turns);
    const told = turnsOf(rows, reset.get(guardKey(resetRow(query.of)))?.[0]);
    return saidIn(
      told.map((row) => ({ ...row, dispatch: whole(row.ref, row.dispatch) })),
      query,
    );
  };
}
