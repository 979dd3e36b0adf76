/** Where the session of a chat is kept, `<profile home>/sessions/<target>/<chat id>.jsonl`, and how ids become file names. */
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

/** Most file systems take 255 bytes; names are ASCII. */
const MAX_NAME = 200;

export function sessionsFolder(home: string): string {
  return join(home, 'sessions');
}

export function sessionPath({ home, target, chatId }: ChatRef): string {
  return join(sessionsFolder(home), target, fileName(chatId));
}

/**
 * Everything but letters, digits and a few signs is percent-encoded, also a leading dot, so that no id names a folder,
 * a hidden file or a file elsewhere. An id that is too long for a name ends in its hash.
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

/** The id a file name stands for; null for other files. A shortened one comes back shortened. */
export function chatIdOf(name: string): string | null {
  if (!name.endsWith(SUFFIX)) return null;
  try {
    return decodeURIComponent(name.slice(0, -SUFFIX.length));
  } catch {
    return null;
  }
}
