/** Makes untrusted text safe to print, to log, and to pass to other programs as an argument. */

/** Controls (C0, DEL, C1), line separators, bidirectional marks and overrides, and lone surrogates. */
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]/u;
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** At most `limit` UTF-16 units of a text, with unprintable characters replaced by U+FFFD. */
export function printableStart(text: string, limit: number): string {
  const short = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return isPrintable(short) ? short : short.replace(EACH_UNPRINTABLE, '\ufffd');
}
