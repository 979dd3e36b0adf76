/** Makes untrusted text safe to print, to log, and to pass to other programs as an argument. */
import { UNSEEN_ALONE } from '../../base/unseen.ts';

const UNPRINTABLE = new RegExp(UNSEEN_ALONE, 'u');
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** At most `limit` UTF-16 units of a text, with unprintable characters replaced by U+FFFD. */
export function printableStart(text: string, limit: number): string {
  const short = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return isPrintable(short) ? short : short.replace(EACH_UNPRINTABLE, '\ufffd');
}
