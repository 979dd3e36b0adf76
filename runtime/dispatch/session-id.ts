/** Session ids of runs: safe to paste into a command line, a path or a log, whatever the sender put into the delivery id. */

/** All but these would mean something to a shell, a pattern or a terminal. */
const SPECIAL = /[^A-Za-z0-9._:/@+=,-]/gu;

/** Percent-encoded in UTF-8; `%` is encoded too, so that no two texts give one id. */
export const sessionId = (...parts: readonly string[]): string => parts.join(':').replace(SPECIAL, percentEncode);

function percentEncode(character: string): string {
  let encoded = '';
  for (const byte of Buffer.from(character, 'utf8')) {
    encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
