/** Sessions as files, `<profile home>/sessions/<target>/<chat id>.jsonl`. */
import type { Dirent } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../base/message-of.ts';
import { readRegularText } from '../../../base/read-regular-file.ts';
import type { Chat, SessionSummary, Sessions, Turn } from '../../store/sessions.ts';
import type { ChatRef } from './session-file.ts';
import { chatIdOf, sessionPath, sessionsFolder } from './session-file.ts';

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

/** Longest session that is read, in bytes. */
const MAX_SESSION_BYTES = 256 * 1024 * 1024;

/** Creates the chat's session, readable only by its owner; an existing one is kept. */
export async function openSession(chat: ChatRef): Promise<{ readonly path: string; readonly created: boolean }> {
  const path = sessionPath(chat);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await (await open(path, 'wx', 0o600)).close();
    return { path, created: true };
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return { path, created: false };
    throw error;
  }
}

/** All sessions of a profile, sorted by target and file name. One that cannot be read is listed with its problem. */
export async function listSessions(home: string): Promise<readonly SessionSummary[]> {
  const found: SessionSummary[] = [];
  for (const target of (await entries(sessionsFolder(home))).filter((entry) => entry.isDirectory())) {
    const folder = join(sessionsFolder(home), target.name);
    for (const { name } of await entries(folder)) {
      const chat_id = chatIdOf(name);
      if (chat_id === null) continue;
      const path = join(folder, name);
      const size = await countTurns(path);
      if (size !== null) found.push({ target: target.name, chat_id, path, ...size });
    }
  }
  return found;
}

/** Null when the file was removed since the folder was read. */
async function countTurns(path: string): Promise<Pick<SessionSummary, 'turns' | 'problem' | 'changed_at'> | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  const changed_at = found.mtime.toISOString();
  try {
    const turns = await readTurns(path);
    return turns && { turns: turns.length, problem: null, changed_at };
  } catch (error) {
    return { turns: null, problem: messageOf(error), changed_at };
  }
}

/** The turns in order; null when the chat has no session. Skips truncated lines, which a full disk may leave. */
export async function readTurns(path: string): Promise<readonly Turn[] | null> {
  try {
    const text = await readRegularText(path, MAX_SESSION_BYTES);
    return text.split('\n').flatMap((line) => parseTurn(line) ?? []);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function parseTurn(line: string): Turn | null {
  try {
    const { role, content, at } = JSON.parse(line) as Partial<Turn>;
    return typeof role === 'string' && typeof content === 'string' ? { role, content, at: String(at ?? '') } : null;
  } catch {
    return null;
  }
}

async function entries(folder: string): Promise<Dirent[]> {
  try {
    const found = await readdir(folder, { withFileTypes: true });
    return found.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * Appends one turn to an existing file, with one write: the system appends each such write as a whole, so turns of several
 * processes never interleave. Returns false when the chat has no session. Rejects as node:fs does for anything else.
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
