/** Session ids of runs. They are safe in a command line, a path or a log, whatever the delivery id contains. */

/** Every other character may be special to a shell, a glob pattern or a terminal. */
const SPECIAL = /[^A-Za-z0-9._:/@+=,-]/gu;

/** Joins the parts with colons, percent-encoded in UTF-8; `%` is encoded too, so that different texts give different ids. */
export const sessionId = (...parts: readonly string[]): string => parts.join(':').replace(SPECIAL, percentEncode);

function percentEncode(character: string): string {
  let encoded = '';
  for (const byte of Buffer.from(character, 'utf8')) {
    encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
