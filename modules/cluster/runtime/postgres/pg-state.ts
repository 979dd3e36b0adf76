/** Shared state that is not work, in the database. */

import type { Chat, SessionSummary, Sessions, Turn } from '../../../../runtime/store/sessions.ts';
import type {
  SharedDocument,
  SharedDocuments,
  SharedTable,
  SharedTables,
  TableFiles,
} from '../../../../runtime/store/shared.ts';
import { ACTIVE_TABLE } from '../../../../runtime/store/shared.ts';
import type { SharedState } from '../../../../runtime/store/store.ts';
import { SUBSCRIPTIONS } from '../sealed-subscriptions.ts';
import type { DocumentKind, DocumentPlace, Signatures } from '../signatures.ts';
import { pgRequests } from './pg-requests.ts';
import type { SnapshotReader, Statement } from './snapshot.ts';

export interface StateParts {
  /** Connections; each query and each change is one transaction. */
  readonly reads: SnapshotReader;
  readonly writes: SnapshotReader;
  /** See `pgRequests`. */
  readonly requests: SnapshotReader;
  readonly signatures: Signatures;
}

export const pgState = ({ reads, writes, requests, signatures }: StateParts): SharedState => ({
  sessions: pgSessions(reads, writes),
  documents: pgDocuments(reads, writes, signatures),
  tables: pgTables(reads, writes, signatures),
  requests: pgRequests(requests, signatures),
});

/** The kind of each document, by its name in the database. */
const KINDS: Readonly<Record<string, DocumentKind>> = { [ACTIVE_TABLE]: 'active', [SUBSCRIPTIONS]: 'subscriptions' };

const VERSION = 'SELECT version FROM document WHERE name = $1';
const READ = 'SELECT version, body AS text FROM document WHERE name = $1';
const CREATE =
  'INSERT INTO document (name, version, body) VALUES ($1, 1, $2) ON CONFLICT (name) DO NOTHING RETURNING 1';
const REPLACE = 'UPDATE document SET version = version + 1, body = $2 WHERE name = $1 AND version = $3 RETURNING 1';

/** @param reads, writes connections; each query and each change is one transaction */
function pgDocuments(reads: SnapshotReader, writes: SnapshotReader, signatures: Signatures): SharedDocuments {
  const read = async (sql: string, name: string): Promise<SharedDocument> => {
    const [rows] = await reads.ask<readonly (readonly SharedDocument[])[]>([sql, name]);
    return rows?.[0] ?? { version: 0, text: '' };
  };
  const placeOf = (name: string): DocumentPlace => {
    const kind = KINDS[name];
    if (kind === undefined) throw new Error(`no kind of document is called ${name}`);
    return { kind, name };
  };
  return {
    version: async (name) => (await read(VERSION, name)).version,
    async read(name) {
      const { version, text } = await read(READ, name);
      return { version, text: version === 0 ? text : signatures.open(placeOf(name), text) };
    },
    async replace(name, from, text) {
      const signed = signatures.sign(placeOf(name), text);
      const [rows] = await writes.ask(from === 0 ? [CREATE, name, signed] : [REPLACE, name, signed, from]);
      return rows !== undefined && rows.length > 0;
    },
  };
}

/** Number of tables that are kept. */
const KEPT = 20;

/** A table that is there gets the new signature. */
const PUSH =
  'INSERT INTO route_table (hash, routes, files) VALUES ($1, $2, $3) ' +
  'ON CONFLICT (hash) DO UPDATE SET routes = excluded.routes, files = excluded.files RETURNING xmax = 0 AS is_new';
/** The hash is the end of the document, behind its signature. */
const TRIM =
  `DELETE FROM route_table WHERE NOT EXISTS (SELECT 1 FROM document WHERE name = '${ACTIVE_TABLE}' AND right(body, 64) = hash) AND hash NOT IN ` +
  `(SELECT hash FROM route_table ORDER BY pushed_at DESC, hash LIMIT ${KEPT})`;
const LIST =
  'SELECT hash, routes, to_char(pushed_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS pushed_at ' +
  'FROM route_table ORDER BY route_table.pushed_at DESC, hash';
const LOAD = 'SELECT files FROM route_table WHERE hash = $1';

/** @param reads, writes connections; each query and each change is one transaction */
function pgTables(reads: SnapshotReader, writes: SnapshotReader, signatures: Signatures): SharedTables {
  return {
    async push({ hash, routes }, files, privateKey) {
      const signed = signatures.sign({ kind: 'table', name: hash }, JSON.stringify(files), privateKey);
      const [[row] = []] = await writes.ask<readonly (readonly { readonly is_new: boolean }[])[]>(
        [PUSH, hash, routes, signed],
        [TRIM],
      );
      return row?.is_new === true;
    },
    async list() {
      const [rows = []] = await reads.ask<readonly (readonly SharedTable[])[]>([LIST]);
      return rows;
    },
    async load(hash, use) {
      const [[row] = []] = await reads.ask<readonly (readonly { readonly files: string }[])[]>([LOAD, hash]);
      if (row === undefined) return null;
      return JSON.parse(signatures.open({ kind: 'table', name: hash }, row.files, use === 'serve')) as TableFiles;
    },
  };
}

const CHAT = 'profile = $1 AND target = $2 AND chat = $3';
const OPEN_SESSION =
  'INSERT INTO session (profile, target, chat) VALUES ($1, $2, $3) ON CONFLICT (profile, target, chat) DO NOTHING RETURNING id';
/** Locks the session's row until the commit, so that turns of several gateways get consecutive numbers. */
const APPEND_TURN =
  `WITH s AS (UPDATE session SET turns = turns + 1, changed_at = clock_timestamp() WHERE ${CHAT} RETURNING id, turns) ` +
  'INSERT INTO session_turn (session, n, turn) SELECT id, turns, $4 FROM s RETURNING n';
const LIST_SESSIONS =
  'SELECT target, chat, turns, to_char(changed_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS changed_at ' +
  'FROM session WHERE profile = $1 ORDER BY target COLLATE "C", chat COLLATE "C"';
const FIND_SESSION = `SELECT id FROM session WHERE ${CHAT}`;
const READ_TURNS = `SELECT turn FROM session_turn WHERE session = (SELECT id FROM session WHERE ${CHAT}) ORDER BY n`;

/** @param reads, writes connections; each query and each change is one transaction */
function pgSessions(reads: SnapshotReader, writes: SnapshotReader): Sessions {
  const of = ({ profile, target, chatId }: Chat): [string, string, string] => [profile, target, JSON.stringify(chatId)];
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
        ({ chat, ...row }): SessionSummary => ({ ...row, chat_id: JSON.parse(chat), path: null, problem: null }),
      );
    },
    async read(chat) {
      type Rows = readonly [readonly object[], readonly { readonly turn: string }[]];
      const [found, turns] = await reads.ask<Rows>([FIND_SESSION, ...of(chat)], [READ_TURNS, ...of(chat)]);
      return found.length === 0 ? null : turns.map(({ turn }) => JSON.parse(turn) as Turn);
    },
  };
}

type ListRow = Omit<SessionSummary, 'chat_id' | 'path' | 'problem'> & { readonly chat: string };
