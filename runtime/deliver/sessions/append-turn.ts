/**
 * Appends one turn to an existing session file, for the mirror and for any other participant of a chat.
 *
 * A turn is one line, written with one `write` to a file opened for appending: the system appends each such write as a
 * whole, so turns of several processes never interleave. The file is not created here; `openSession` does that.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Turn } from '../../store/sessions.ts';

/** Returns false when the chat has no session. Rejects as node:fs does for anything else. */
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
