/** Paths of session files, `<profile home>/sessions/<target>/<chat id>.jsonl`, and the encoding of ids as file names. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export interface ChatRef {
  /** Absolute home of the profile. */
  readonly home: string;
  /** Canonical target name. */
  readonly target: string;
  readonly chatId: string;
}

const SUFFIX = '.jsonl';

/** In characters; names are ASCII, and most file systems allow 255 bytes. */
const MAX_NAME = 200;

export function sessionsFolder(home: string): string {
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
