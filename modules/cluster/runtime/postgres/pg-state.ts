/** Shared state that is not work, in the database. */

import { decodeOr, fieldsOf, isText } from '../../../../runtime/store/decode.ts';
import type { Chat, SessionSummary, Sessions, Turn } from '../../../../runtime/store/sessions.ts';
import type { SharedDocument, SharedDocuments } from '../../../../runtime/store/shared.ts';
import type { SharedState } from '../../../../runtime/store/store.ts';
import { pgRequests, unsigned } from './pg-requests.ts';
import type { SnapshotReader, Statement } from './snapshot.ts';

export interface StateParts {
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
/** A gateway of schema version 2 signs. */
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

const isTurn = fieldsOf<Turn>({ role: isText, content: isText, at: isText });
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
        ({ chat, ...row }): SessionSummary => ({
          ...row,
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
