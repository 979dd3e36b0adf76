/** Shared state in the database that is not work: documents, captured requests, sessions, and slots of rate windows. */

import { realTarget, specTarget } from '../../../../base/spec-names.ts';
import { decodeOr, isText } from '../../../../runtime/store/decode.ts';
import type {
  Chat,
  NewRequestRow,
  RequestFilter,
  RequestRow,
  RequestRows,
  SessionSummary,
  Sessions,
  SharedDocument,
  SharedDocuments,
  SharedState,
  Turn,
} from '../../../../runtime/store/shared.ts';
import { isTurn } from '../../../../schemas/built/rows/Turn.ts';
import type { SlotGrant, SlotRequest } from '../shared-window.ts';
import type { PgValue } from './driver.ts';
import type { SnapshotReader, Statement } from './transact.ts';

/** Maximum bytes of bodies stored, and maximum rows removed, by one statement. */
const SLICE_BYTES = 2 * 1024 * 1024;
const SLICE_ROWS = 500;

const ADD =
  'INSERT INTO request (n, profile, route, outcome, reason, head, body, bytes) ' +
  "SELECT n, profile, route, outcome, reason, head, decode(body, 'base64'), bytes FROM json_to_recordset($1::json) AS " +
  'x(n bigint, profile text, route text, outcome text, reason text, head text, body text, bytes integer) ' +
  'ON CONFLICT DO NOTHING RETURNING 1';
const REMOVE_OLD =
  'DELETE FROM request WHERE n IN (SELECT n FROM request WHERE n < $1 ORDER BY n LIMIT $2) RETURNING 1';
/** Keeps the newest rows that together have at most $1 bytes. */
const REMOVE_EXCESS =
  'DELETE FROM request WHERE n IN (SELECT n FROM (SELECT n, sum(bytes) OVER (ORDER BY n DESC) AS newest FROM request) s ' +
  'WHERE newest > $1 ORDER BY n LIMIT $2) RETURNING 1';
/** A text without the signature that gateways of schema version 2 put before it. */
const unsigned = (column: string): string => `regexp_replace(${column}, '^signed:[^\n]*\n', '')`;
const HEAD = unsigned('head');
const BETWEEN = `SELECT n, ${HEAD} AS head, body FROM request WHERE n BETWEEN $1 AND $2 ORDER BY n LIMIT 2`;
/** Bytes as ASCII text, because a body may be binary. */
const asciiOf = (bytes: string): string => `lower(encode(${bytes}, 'escape'))`;

/** @param requests a separate connection, so that a long search delays nothing else */
const pgRequests = (requests: SnapshotReader): RequestRows => ({
  /** Uses statements of limited size. */
  async add(rows) {
    let stored = 0;
    for (const slice of slicesOf(rows)) {
      stored += (await requests.ask([ADD, JSON.stringify(slice.map(printRow))]))[0]?.length ?? 0;
    }
    return stored;
  },
  async trim(n, maxBytes) {
    for (const [sql, limit] of [[REMOVE_OLD, n] as const, [REMOVE_EXCESS, maxBytes] as const]) {
      for (let removed = SLICE_ROWS; removed === SLICE_ROWS; ) {
        removed = (await requests.ask([sql, limit, SLICE_ROWS]))[0]?.length ?? 0;
      }
    }
  },
  async list(filter) {
    const [rows = []] = await requests.ask<[RequestRow[]]>(listStatement(filter));
    return rows;
  },
  async between(from, to) {
    const [rows = []] = await requests.ask<[RequestRow[]]>([BETWEEN, from, to]);
    return rows;
  },
});

function listStatement(filter: RequestFilter): readonly [string, ...PgValue[]] {
  const terms: string[] = [];
  const values: PgValue[] = [];
  const add = (value: PgValue | undefined, term: (place: string) => string): void => {
    if (value !== undefined) terms.push(term(`$${values.push(value)}`));
  };
  for (const column of ['profile', 'route', 'outcome', 'reason'] as const) {
    // No column contains a NUL, which PostgreSQL does not accept.
    add(filter[column]?.replaceAll('\0', '\ufffd'), (place) => `${column} = ${place}`);
  }
  add(filter.above, (place) => `n > ${place}`);
  add(filter.below, (place) => `n < ${place}`);
  if (filter.grep !== undefined) {
    const inHead = `$${values.push(JSON.stringify(filter.grep).slice(1, -1))}`;
    const inBody = `$${values.push(Buffer.from(filter.grep))}`;
    terms.push(
      `(position(lower(${inHead}::text) IN lower(${HEAD})) > 0 OR position(${asciiOf(`${inBody}::bytea`)} IN ${asciiOf('body')}) > 0)`,
    );
  }
  const where = terms.length === 0 ? '' : ` WHERE ${terms.join(' AND ')}`;
  const order = filter.isAscending ? 'ASC' : 'DESC';
  const [limit, skip] = [values.push(filter.limit), values.push(filter.skip)];
  return [
    `SELECT n, ${HEAD} AS head FROM request${where} ORDER BY n ${order} LIMIT $${limit} OFFSET $${skip}`,
    ...values,
  ];
}

function printRow({ body, ...row }: NewRequestRow): object {
  const bytes = Buffer.byteLength(row.head) + (body?.length ?? 0);
  return { ...row, body: body === null ? null : Buffer.from(body).toString('base64'), bytes };
}

function* slicesOf(rows: readonly NewRequestRow[]): Generator<readonly NewRequestRow[]> {
  let slice: NewRequestRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    slice.push(row);
    bytes += row.head.length + (row.body?.length ?? 0);
    if (bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

/** The connections for shared state that is not work. */
interface StateParts {
  /** Connections; each query and each change is one transaction. */
  readonly reads: SnapshotReader;
  readonly writes: SnapshotReader;
  /** See `pgRequests`. */
  readonly requests: SnapshotReader;
}

export const pgState = ({ reads, writes, requests }: StateParts): SharedState => ({
  sessions: pgSessions(reads, writes),
  documents: pgDocuments(reads, writes),
  requests: pgRequests(requests),
});

const VERSION = 'SELECT version FROM document WHERE name = $1';
/** A gateway of schema version 2 signs the text. */
const READ = `SELECT version, ${unsigned('body')} AS text FROM document WHERE name = $1`;
const CREATE =
  'INSERT INTO document (name, version, body) VALUES ($1, 1, $2) ON CONFLICT (name) DO NOTHING RETURNING 1';
const REPLACE = 'UPDATE document SET version = version + 1, body = $2 WHERE name = $1 AND version = $3 RETURNING 1';

/** @param reads, writes connections; each query and each change is one transaction */
function pgDocuments(reads: SnapshotReader, writes: SnapshotReader): SharedDocuments {
  const read = async (sql: string, name: string): Promise<SharedDocument> => {
    const [rows] = await reads.ask<readonly (readonly SharedDocument[])[]>([sql, name]);
    return rows?.[0] ?? { version: 0, text: '' };
  };
  return {
    version: async (name) => (await read(VERSION, name)).version,
    read: (name) => read(READ, name),
    async replace(name, from, text) {
      const [rows] = await writes.ask(from === 0 ? [CREATE, name, text] : [REPLACE, name, text, from]);
      return rows !== undefined && rows.length > 0;
    },
  };
}

/** $2: the target; $4: its name in earlier versions. */
const CHAT = 'profile = $1 AND target IN ($2, $4) AND chat = $3';
const OPEN_SESSION =
  `INSERT INTO session (profile, target, chat) SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM session WHERE ${CHAT}) ` +
  'ON CONFLICT (profile, target, chat) DO NOTHING RETURNING id';
/** Locks the session's row until the commit, so that turns of several gateways get consecutive numbers. */
const APPEND_TURN =
  `WITH s AS (UPDATE session SET turns = turns + 1, changed_at = clock_timestamp() WHERE ${CHAT} RETURNING id, turns) ` +
  'INSERT INTO session_turn (session, n, turn) SELECT id, turns, $5 FROM s RETURNING n';
const LIST_SESSIONS =
  'SELECT target, chat, turns, to_char(changed_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS changed_at ' +
  'FROM session WHERE profile = $1 ORDER BY target COLLATE "C", chat COLLATE "C"';
const FIND_SESSION = `SELECT id FROM session WHERE ${CHAT}`;
const READ_TURNS = `SELECT turn FROM session_turn WHERE session = (SELECT id FROM session WHERE ${CHAT}) ORDER BY n`;

/** @param reads, writes connections; each query and each change is one transaction */
function pgSessions(reads: SnapshotReader, writes: SnapshotReader): Sessions {
  const of = ({ profile, target, chatId }: Chat): [string, string, string, string] => {
    const real = realTarget(target);
    return [profile, real, JSON.stringify(chatId), specTarget(real)];
  };
  const change = async (...statement: Statement): Promise<boolean> => {
    const [rows] = await writes.ask<readonly (readonly object[])[]>(statement);
    return rows !== undefined && rows.length > 0;
  };
  return {
    open: async (chat) => ({ path: null, created: await change(OPEN_SESSION, ...of(chat)) }),
    append: (chat, { role, content, at }) => change(APPEND_TURN, ...of(chat), JSON.stringify({ role, content, at })),
    async list(profile) {
      const [rows = []] = await reads.ask<readonly (readonly ListRow[])[]>([LIST_SESSIONS, profile]);
      return rows.map(
        ({ chat, ...row }): SessionSummary => ({
          ...row,
          target: realTarget(row.target),
          chat_id: decodeOr(chat, isText, ''),
          path: null,
          problem: null,
        }),
      );
    },
    async read(chat) {
      type Rows = readonly [readonly object[], readonly { readonly turn: string }[]];
      const [found, turns] = await reads.ask<Rows>([FIND_SESSION, ...of(chat)], [READ_TURNS, ...of(chat)]);
      return found.length === 0 ? null : turns.flatMap(({ turn }) => decodeOr<Turn | readonly []>(turn, isTurn, []));
    },
  };
}

type ListRow = Omit<SessionSummary, 'chat_id' | 'path' | 'problem'> & { readonly chat: string };

/*
 * Slots of rate windows: one row for each route. Each change is its own transaction, which does not wait for the disk, so
 * that the row is locked only during the statement. A crash of the server loses the latest counts.
 */

const WINDOW = "interval '60 s'";
/** The number of slots granted when `free` of them are free. $2: limit; $3: needed; $4: ahead. */
const granted = (free: string): string =>
  `least($3::bigint, ${free}) + least($4::bigint, greatest(${free} - $3::bigint, 0) / 64)`;
/** A window in the future is from before the server's clock moved back. */
const IS_OVER = `w.opened_at NOT BETWEEN excluded.opened_at - ${WINDOW} AND excluded.opened_at + ${WINDOW}`;
const USED = `CASE WHEN ${IS_OVER} THEN 0 ELSE w.taken END`;
const FREE = `greatest($2::bigint - ${USED}, 0)`;
const TAKE =
  'INSERT INTO rate_window AS w (name, opened_at, taken, granted) ' +
  `VALUES ($1, clock_timestamp(), ${granted('$2::bigint')}, ${granted('$2::bigint')}) ON CONFLICT (name) DO UPDATE SET ` +
  `opened_at = CASE WHEN ${IS_OVER} THEN excluded.opened_at ELSE w.opened_at END, ` +
  `taken = ${USED} + ${granted(FREE)}, granted = ${granted(FREE)} ` +
  `RETURNING granted, taken, floor(1000 * extract(epoch FROM opened_at + ${WINDOW} - clock_timestamp()))::bigint AS left_ms`;
/** Removes the windows of routes that no longer exist. */
export const FORGET_WINDOWS = "DELETE FROM rate_window WHERE opened_at < clock_timestamp() - interval '1 day'";

/** Takes slots of a window. Rejects with StoreUnavailable. */
export async function takeSlots(db: SnapshotReader, { window, limit, needed, ahead }: SlotRequest): Promise<SlotGrant> {
  const [rows] = await db.ask<readonly (readonly SlotGrant[])[]>([TAKE, window, limit, needed, ahead]);
  const [grant] = rows ?? [];
  if (grant === undefined) throw new Error(`the database returned no rate window ${window}`);
  return grant;
}
