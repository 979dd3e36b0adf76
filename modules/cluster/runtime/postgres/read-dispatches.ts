/** The SQL for queries about dispatches, their waits and their sessions. */
import type { BusyRow, ListedRow, SaidRow, StoredRow } from '../../../../runtime/store/listed-rows.ts';
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
} from '../../../../runtime/store/listed-rows.ts';
import type {
  BlockedRow,
  DispatchSummary,
  Query,
  QueryResults,
  RouteTraffic,
  StoredDispatch,
} from '../../../../runtime/store/queries.ts';
import { MOST_COUNTED } from '../../../../runtime/store/queries.ts';
import { guardKey, sessionName } from '../../../../runtime/store/records.ts';
import { isFinal, SHOWN_STATES } from '../../../../runtime/store/states.ts';
import type { LaneCount, StoredWaits } from '../../../../runtime/store/waits.ts';
import { COUNT_RUNNING, COUNT_SESSIONS, countDue, IS_BLOCKED } from '../../../../runtime/store/waits.ts';
import { shortenedKey } from './store-unit.ts';
import type { AskSnapshot, PgQueries, Statement } from './transact.ts';

type DispatchQuery = 'load' | 'find' | 'ended' | 'list' | 'traffic' | 'sessions' | 'waits' | 'said' | 'blocked';

/** A dispatch has a row in either `work` or `ended`. */
const TABLES = 'dispatch d LEFT JOIN work w ON w.ref = d.ref LEFT JOIN ended e ON e.ref = d.ref';
const ofEither = (name: string): string => `coalesce(w.${name}, e.${name}) AS ${name}`;
const LISTED = listedColumns(
  [...['state', 'started_at', 'answered_at', 'reason'].map(ofEither), 'e.finished_at'],
  'json_build_array',
).join(', ');
const STORED =
  `SELECT ${LISTED}, d.max_concurrent, d.body, a.text AS answer, a.program FROM ${TABLES} ` +
  'LEFT JOIN answer a ON a.ref = d.ref';

export const dispatchQueries = (ask: AskSnapshot): Pick<PgQueries, DispatchQuery> => ({
  async load({ ref }) {
    const [rows, steps] = await ask<[StoredRow[], StepRow[]]>(
      [`${STORED} WHERE d.ref = $1`, ref],
      ['SELECT ref, data FROM step WHERE ref = $1 ORDER BY n', ref],
    );
    if (rows[0] === undefined) return null;
    const [dispatch = null] = await whole(ask, [readStored(rows[0], stepsOf(steps))]);
    return dispatch;
  },
  find: (query) => find(ask, query),
  async ended({ ids }) {
    const [rows] = await ask<[{ id: string }[]]>([
      'SELECT d.id FROM dispatch d JOIN ended e USING (ref) WHERE d.id = ANY($1::text[])',
      ids,
    ]);
    return rows.map(({ id }) => id);
  },
  list: (query) => list(ask, query),
  traffic: async ({ routes, since }) => (await ask<[RouteTraffic[]]>([TRAFFIC, routes, since]))[0],
  sessions: async ({ profile }) => (await ask<[BusyRow[]]>([BUSY, profile]))[0].map(readBusy),
  async waits({ now }) {
    const [turns, due, running] = await ask<[Pick<StoredWaits, 'session' | 'sessions'>[], LaneCount[], LaneCount[]]>(
      [COUNT_SESSIONS],
      [countDue('$1'), now],
      [COUNT_RUNNING],
    );
    return { ...(turns[0] ?? { session: 0, sessions: 0 }), due, running };
  },
  async said(query) {
    const session = shortenedKey(sessionName(query.of));
    const [rows = [], reset = []] = await ask<[SaidRow[], { body: string }[]]>(
      [SAID, session, query.turns],
      ['SELECT body FROM guard_state WHERE id = $1', shortenedKey(guardKey(resetRow(query.of)))],
    );
    return saidIn(await whole(ask, turnsOf(rows, reset[0]?.body)), query);
  },
  blocked: async () => (await ask<[BlockedRow[]]>([BLOCKED]))[0],
});

const EARLIER =
  'SELECT body FROM dispatch WHERE burst = (SELECT burst FROM dispatch WHERE ref = $1) AND ref < $1 ORDER BY ref DESC LIMIT $2';

/** The rows with the lists of their bursts. */
async function whole<R extends Pick<StoredDispatch, 'ref' | 'dispatch'>>(
  ask: AskSnapshot,
  rows: readonly R[],
): Promise<readonly R[]> {
  const needed = rows.map(({ ref, dispatch }): Statement => [EARLIER, ref, earlierNeeded(dispatch)]);
  const isComplete = needed.every(([, , most]) => most === 0);
  const found = isComplete ? [] : await ask<{ readonly body: string }[][]>(...needed);
  return rows.map((row, at) => {
    const earlier = found[at]?.map(({ body }) => body) ?? [];
    return { ...row, dispatch: fillEvents(row.dispatch, earlier) };
  });
}

const TRAFFIC =
  'SELECT count(*) FILTER (WHERE accepted_at >= $2) AS events, max(accepted_at) AS last_at FROM unnest($1::text[]) WITH ORDINALITY AS r (route, n) ' +
  `LEFT JOIN LATERAL (SELECT accepted_at FROM dispatch d WHERE d.route = r.route ORDER BY ref DESC LIMIT ${MOST_COUNTED}) newest ON true ` +
  'GROUP BY r.n ORDER BY r.n';

const BUSY = `SELECT ${LISTED}, ${WAITING_RUNS} FROM ${TABLES} WHERE ${HAS_TURN} AND d.profile = coalesce($1::text, d.profile) ORDER BY d.ref`;

const SAID =
  'SELECT d.ref, d.body, a.text AS answer, coalesce(w.answered_at, e.answered_at) AS answered_at FROM dispatch d ' +
  'JOIN answer a ON a.ref = d.ref LEFT JOIN work w ON w.ref = d.ref LEFT JOIN ended e ON e.ref = d.ref ' +
  `WHERE d.session = $1 AND coalesce(w.answered_at, e.answered_at) IS NOT NULL AND a.text <> '""' ORDER BY d.ref DESC LIMIT $2`;

interface StepRow {
  readonly data: string;
}

const stepsOf = (rows: readonly StepRow[]): readonly string[] => rows.map(({ data }) => data);

/** The dispatch with exactly this id; otherwise at most two whose id has this prefix. */
const FOUND =
  "SELECT ref FROM dispatch WHERE id = $1 UNION ALL (SELECT ref FROM dispatch WHERE $1 <> '' AND id ~>=~ $1 AND id ~<~ ($1 || $2) " +
  'AND NOT EXISTS (SELECT 1 FROM dispatch WHERE id = $1) LIMIT 2)';

async function find(ask: AskSnapshot, { id }: Extract<Query, { kind: 'find' }>): Promise<QueryResults['find']> {
  // The ids contain no NUL, which PostgreSQL does not accept.
  if (id.includes('\0')) return { kind: 'unknown' };
  const values = [id, '\u{10ffff}'] as const;
  const [rows, steps] = await ask<[StoredRow[], StepRow[]]>(
    [`${STORED} WHERE d.ref IN (${FOUND})`, ...values],
    [`SELECT data FROM step WHERE ref IN (${FOUND}) ORDER BY ref, n`, ...values],
  );
  const [row] = rows;
  if (row === undefined) return { kind: 'unknown' };
  if (rows.length > 1) return { kind: 'ambiguous' };
  const stored = readStored(row, stepsOf(steps));
  const [dispatch = stored] = await whole(ask, [stored]);
  return { kind: 'found', dispatch };
}

async function list(
  ask: AskSnapshot,
  { filter }: Extract<Query, { kind: 'list' }>,
): Promise<readonly DispatchSummary[]> {
  const values: (string | number | readonly string[])[] = [];
  const where: string[] = [];
  const add = (value: string | number | readonly string[] | undefined, condition: (place: string) => string): void => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`));
  };
  // Taken from the known states, because it becomes a literal.
  const state = SHOWN_STATES.find((known) => known === filter.state);
  if (state !== undefined) where.push(isFinal(state) ? `e.state = '${state}'` : hasOpenState(state));
  if (filter.oldest_open) where.push('w.ref IS NOT NULL');
  if (filter.hide_own) where.push(HAS_OWNER);
  add(filter.ids, (place) => `d.id = ANY(${place}::text[])`);
  add(filter.route, (place) => `d.route = ${place}`);
  add(filter.job, (place) => `d.job = ${place}`);
  add(filter.since, (place) => `d.accepted_at >= ${place}`);
  add(filter.until, (place) => `d.accepted_at < ${place}`);
  add(filter.before, (place) => `d.ref < ${place}`);
  if (filter.grep !== undefined) add(textInHead(filter.grep), (place) => `strpos(lower(d.head), lower(${place})) > 0`);
  if (filter.delivery_id !== undefined) add(inHead(filter.delivery_id), (place) => `strpos(d.head, ${place}) > 0`);
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  const sql = `SELECT ${LISTED} FROM ${TABLES} ${condition} ORDER BY d.ref ${filter.oldest_open ? 'ASC' : 'DESC'} LIMIT $${values.push(filter.limit)}`;
  return (await ask<[ListedRow[]]>([sql, ...values]))[0].map(readListed);
}

const BLOCKED = `SELECT ${BLOCKED_COLUMNS.join(', ')} FROM delivery x JOIN dispatch d USING (ref) WHERE ${IS_BLOCKED} ORDER BY x.ref, x.n`;
