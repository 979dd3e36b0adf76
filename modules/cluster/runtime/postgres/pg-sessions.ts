/** Sessions of chats in the database. Untrusted text is stored as JSON. */
import type { Chat, SessionSummary, Sessions, Turn } from '../../../../runtime/store/sessions.ts';
import type { SnapshotReader, Statement } from './snapshot.ts';

const CHAT = 'profile = $1 AND target = $2 AND chat = $3';
const OPEN =
  'INSERT INTO session (profile, target, chat) VALUES ($1, $2, $3) ON CONFLICT (profile, target, chat) DO NOTHING RETURNING id';
/** Locks the session's row until the commit, so that turns of several gateways get consecutive numbers. */
const APPEND =
  `WITH s AS (UPDATE session SET turns = turns + 1, changed_at = clock_timestamp() WHERE ${CHAT} RETURNING id, turns) ` +
  'INSERT INTO session_turn (session, n, turn) SELECT id, turns, $4 FROM s RETURNING n';
const LIST =
  'SELECT target, chat, turns, to_char(changed_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS changed_at ' +
  'FROM session WHERE profile = $1 ORDER BY target COLLATE "C", chat COLLATE "C"';
const FIND = `SELECT id FROM session WHERE ${CHAT}`;
const READ = `SELECT turn FROM session_turn WHERE session = (SELECT id FROM session WHERE ${CHAT}) ORDER BY n`;

/** @param reads, writes connections; each query and each change is one transaction */
export function pgSessions(reads: SnapshotReader, writes: SnapshotReader): Sessions {
  const of = ({ profile, target, chatId }: Chat): [string, string, string] => [profile, target, JSON.stringify(chatId)];
  const change = async (...statement: Statement): Promise<boolean> => {
    const [rows] = await writes.ask<readonly (readonly object[])[]>(statement);
    return rows !== undefined && rows.length > 0;
  };
  return {
    open: async (chat) => ({ path: null, created: await change(OPEN, ...of(chat)) }),
    append: (chat, { role, content, at }) => change(APPEND, ...of(chat), JSON.stringify({ role, content, at })),
    async list(profile) {
      const [rows = []] = await reads.ask<readonly (readonly ListRow[])[]>([LIST, profile]);
      return rows.map(
        ({ chat, ...row }): SessionSummary => ({ ...row, chat_id: JSON.parse(chat), path: null, problem: null }),
      );
    },
    async read(chat) {
      type Rows = readonly [readonly object[], readonly { readonly turn: string }[]];
      const [found, turns] = await reads.ask<Rows>([FIND, ...of(chat)], [READ, ...of(chat)]);
      return found.length === 0 ? null : turns.map(({ turn }) => JSON.parse(turn) as Turn);
    },
  };
}

type ListRow = Omit<SessionSummary, 'chat_id' | 'path' | 'problem'> & { readonly chat: string };
