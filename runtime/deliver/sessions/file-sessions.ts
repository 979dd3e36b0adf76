/** Sessions as files, `<profile home>/sessions/<target>/<chat id>.jsonl`. */

import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { codeOf } from '../../../base/code-of.ts';
import type { Chat, Sessions, Turn } from '../../store/sessions.ts';
import { listSessions, openSession, readTurns, sessionPath } from './session-store.ts';

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

/**
 * Appends a turn to an existing session file; false when the chat has no session. Rejects as node:fs does for anything
 * else. A turn is one line, written with one `write` to a file opened for appending: the system appends each such write as
 * a whole, so turns of several processes never interleave.
 */
export async function appendTurn(path: string, turn: Turn): Promise<boolean> {
  const line = Buffer.from(`${JSON.stringify({ role: turn.role, content: turn.content, at: turn.at })}\n`, 'utf8');
  const file = await openExisting(path);
  if (file === null) return false;
  try {
    const { bytesWritten } = await file.write(line);
    if (bytesWritten < line.length) throw new Error('the session file took only a part of the line: is the disk full?');
  } finally {
    await file.close();
  }
  return true;
}

async function openExisting(path: string): Promise<FileHandle | null> {
  try {
    // O_NONBLOCK, because opening a FIFO would block until a reader appears.
    const file = await open(path, constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0));
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error('the session file is not a regular file');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
