/** Generates ids of dispatches, of events whose sender provides none, and of the markers in prompts. */

export interface Ids {
  /** Unique, and sorts by time even if the clock steps back. @param now Unix ms */
  dispatch(now: number): string;
  /** `<ms timestamp>-<random>`, so that two events in one millisecond differ (decisions §4). @param now Unix ms */
  delivery(now: number): string;
  /** Id of the markers in one prompt: 12 unguessable hexadecimal digits. */
  marker(): string;
}

const TIME_DIGITS = 9;
const SEQUENCE_DIGITS = 3;
const SEQUENCE_END = 36 ** SEQUENCE_DIGITS;
/** Random bytes in an id, and in the pool: one call for random bytes serves many ids. */
const RANDOM_BYTES = 6;
const POOL_BYTES = RANDOM_BYTES * 512;

/** @param randomBytes like that of node:crypto */
export function createIds(randomBytes: (size: number) => Buffer): Ids {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  let last = 0;
  let lastText = '';
  let sequence = 0;

  const random = (): string => {
    if (used === pool.length) {
      pool = randomBytes(POOL_BYTES);
      used = 0;
    }
    used += RANDOM_BYTES;
    return pool.toString('hex', used - RANDOM_BYTES, used);
  };

  return {
    dispatch(now) {
      if (now > last || ++sequence === SEQUENCE_END) {
        last = Math.max(now, last + 1);
        lastText = base36(last, TIME_DIGITS);
        sequence = 0;
      }
      return lastText + base36(sequence, SEQUENCE_DIGITS) + random();
    },
    delivery: (now) => `${now}-${random()}`,
    marker: random,
  };
}

function base36(value: number, digits: number): string {
  return value.toString(36).padStart(digits, '0');
}

/** Every other character may be special to a shell, a glob pattern or a terminal. */
const SPECIAL = /[^A-Za-z0-9._:/@+=,-]/gu;

/** Joins the parts with colons, percent-encoded in UTF-8; `%` is encoded too, so that different texts give different ids. */
export const sessionId = (...parts: readonly string[]): string => parts.join(':').replace(SPECIAL, percentEncode);

export function percentEncode(character: string): string {
  let encoded = '';
  for (const byte of bytesOf(character)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return encoded;
}

/** Half of a surrogate pair has no UTF-8; it gets three bytes as if it had, so that each half is encoded differently. */
function bytesOf(character: string): Buffer {
  const unit = character.charCodeAt(0);
  if (!HALF.test(character)) return Buffer.from(character, 'utf8');
  return Buffer.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
}

/** Half of a surrogate pair. */
export const HALF: RegExp = /\p{Surrogate}/u;
