/**
 * Stores sessions of chats as files, `<profile home>/sessions/<target>/<chat id>.jsonl`, and mirrors delivered texts into them
 * (§4.7).
 */
import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { constants, existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { readRegularText } from '../../base/files.ts';
import { realTarget, specTarget } from '../../base/spec-names.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Chat, SessionSummary, Sessions, Turn } from '../store/shared.ts';
import type { DeliveryRequest } from './deliverer.ts';

/** Maximum size of a session that is read, in bytes. */
const MAX_SESSION_BYTES = 256 * 1024 * 1024;

/** Creates the chat's session, readable only by its owner. An existing session is kept. */
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

/** All sessions of a profile, sorted by folder and file name. An unreadable one is listed with its problem. */
export async function listSessions(home: string): Promise<readonly SessionSummary[]> {
  const sessions: SessionSummary[] = [];
  for (const target of (await entries(sessionsFolder(home))).filter((entry) => entry.isDirectory())) {
    const real = realTarget(target.name);
    for (const { name } of await entries(join(sessionsFolder(home), target.name))) {
      const chat_id = chatIdOf(name);
      if (chat_id === null || (real !== target.name && existsSync(join(sessionsFolder(home), real, name)))) continue;
      const path = join(sessionsFolder(home), target.name, name);
      const size = await countTurns(path);
      if (size !== null) sessions.push({ target: real, chat_id, path, ...size });
    }
  }
  return sessions;
}

/** Null if the file was removed after the folder was read. */
async function countTurns(path: string): Promise<Pick<SessionSummary, 'turns' | 'problem' | 'changed_at'> | null> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return null;
  const changed_at = stats.mtime.toISOString();
  try {
    const turns = await readTurns(path);
    return turns && { turns: turns.length, problem: null, changed_at };
  } catch (error) {
    return { turns: null, problem: messageOf(error), changed_at };
  }
}

/** The turns in order; null if the chat has no session. Skips truncated lines, which a full disk may leave. */
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
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Paths of session files, `<profile home>/sessions/<target>/<chat id>.jsonl`, and the encoding of ids as file names. */
interface ChatRef {
  /** Absolute home of the profile. */
  readonly home: string;
  /** Canonical target name. */
  readonly target: string;
  readonly chatId: string;
}

const SUFFIX = '.jsonl';

/** In characters; names are ASCII, and most file systems allow 255 bytes. */
const MAX_NAME = 200;

function sessionsFolder(home: string): string {
  return join(home, 'sessions');
}

export function sessionPath({ home, target, chatId }: ChatRef): string {
  return join(sessionsFolder(home), target, fileName(chatId));
}

/**
 * Percent-encodes everything except letters, digits and a few signs, and also a leading dot, so that no id names a folder,
 * a hidden file or a file elsewhere. An id that is too long is shortened and ends with its hash.
 */
export function fileName(chatId: string): string {
  const encoded = [...Buffer.from(chatId, 'utf8')]
    .map((byte, index) => {
      const char = String.fromCharCode(byte);
      const safe = /[A-Za-z0-9_+@=,-]/.test(char) || (char === '.' && index > 0);
      return safe ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
  if (encoded.length <= MAX_NAME) return `${encoded}${SUFFIX}`;
  const hash = createHash('sha256').update(chatId, 'utf8').digest('hex').slice(0, 32);
  return `${encoded.slice(0, MAX_NAME - hash.length - 1)}~${hash}${SUFFIX}`;
}

/** The id that a file name encodes; null for other files. A shortened id stays shortened. */
export function chatIdOf(name: string): string | null {
  if (!name.endsWith(SUFFIX)) return null;
  try {
    return decodeURIComponent(name.slice(0, -SUFFIX.length));
  } catch {
    return null;
  }
}

/** @param homeOf absolute home of a profile */
export function fileSessions(homeOf: (profile: string) => string): Sessions {
  /** Sessions created by earlier versions stay in their folder, which has the specification's name for the target. */
  const place = ({ profile, target, chatId }: Chat): ChatRef => {
    const own = { home: homeOf(profile), target: realTarget(target), chatId };
    const earlier = { ...own, target: specTarget(own.target) };
    return !existsSync(sessionPath(own)) && existsSync(sessionPath(earlier)) ? earlier : own;
  };
  return {
    open: async (chat) => openSession(place(chat)),
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
    if (bytesWritten < line.length) throw new Error('could not write the whole line to the session: is the disk full?');
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

/** Mirrors delivered texts into the chat's session (§4.7). Best effort: a failure does not fail the delivery. */
export type MirroredDelivery = Pick<
  DeliveryRequest,
  'profile' | 'route' | 'target' | 'label' | 'text' | 'delivery_id'
> & {
  readonly chat_id: string;
};

/** Never rejects. Does nothing when the chat has no session yet. */
export type MirrorDelivery = (delivery: MirroredDelivery) => Promise<void>;

export interface MirrorContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: Sessions;
}

export function createMirror({ clock, log, sessions }: MirrorContext): MirrorDelivery {
  return async ({ profile, route, target, text, delivery_id, chat_id, label = target }) => {
    try {
      const content = `[Webhook delivery: ${route}]\n${text}`;
      const at = new Date(clock.now()).toISOString();
      await sessions.append({ profile, target, chatId: chat_id }, { role: 'user', content, at });
    } catch (error) {
      const reason = codeOf(error) ?? 'unknown';
      log.warn({ profile, route, target: label, delivery_id, reason }, 'could not mirror the delivered text');
    }
  };
}
