/** Imports the sessions of chats into the database, each with its turns. */
import type { Chat, Turn } from '../../../../runtime/store/sessions.ts';
import type { PgConnection } from './driver.ts';

export interface MovedSession extends Chat {
  readonly turns: readonly Turn[];
  /** UTC instant, RFC 3339. */
  readonly changed_at: string;
}

const SESSION =
  'WITH s AS (INSERT INTO session (profile, target, chat, turns, changed_at) VALUES ($1, $2, $3, $4, $5) RETURNING id), ' +
  't AS (INSERT INTO session_turn (session, n, turn) SELECT s.id, x.n, x.turn FROM s, ' +
  'json_to_recordset($6::json) AS x(n bigint, turn text)) SELECT id FROM s';

/** Imports into a database without sessions, within a transaction; resolves to the number of sessions stored. */
export async function importSessions(db: PgConnection, sessions: AsyncIterable<MovedSession>): Promise<number> {
  let stored = 0;
  for await (const { profile, target, chatId, turns, changed_at } of sessions) {
    const rows = turns.map((turn, index) => ({ n: index + 1, turn: JSON.stringify(turn) }));
    const values = [profile, target, JSON.stringify(chatId), turns.length, changed_at, JSON.stringify(rows)];
    stored += (await db.query(SESSION, values)).length;
  }
  return stored;
}
