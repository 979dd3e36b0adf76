/** Sessions as files, `<profile home>/sessions/<target>/<chat id>.jsonl`. */
import type { Chat, Sessions } from '../../store/sessions.ts';
import { appendTurn } from './append-turn.ts';
import { sessionPath } from './session-file.ts';
import { listSessions, openSession, readTurns } from './session-store.ts';

/** @param homeOf absolute home of a profile */
export function fileSessions(homeOf: (profile: string) => string): Sessions {
  const place = ({ profile, ...chat }: Chat) => ({ home: homeOf(profile), ...chat });
  return {
    open: (chat) => openSession(place(chat)),
    append: async (chat, turn) => appendTurn(sessionPath(place(chat)), turn),
    list: async (profile) => listSessions(homeOf(profile)),
    read: async (chat) => readTurns(sessionPath(place(chat))),
  };
}
