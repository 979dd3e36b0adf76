/** "Did you mean": finds the known names that are most similar to an unknown one. */

import { editDistance } from '../../base/edit-distance.ts';

const MAX_SUGGESTIONS = 3;
/** Longer names get no suggestions. */
const MAX_LENGTH = 64;

/** Returns at most three names, most similar first; empty if none is similar. */
export function suggest(name: string, known: Iterable<string>): readonly string[] {
  const close = closest(name, known);
  const most = close[0]?.distance === PLURAL ? 1 : MAX_SUGGESTIONS;
  return close.slice(0, most).map(({ word }) => word);
}

/** Returns the only name that can be meant, of all that there are: it differs by a slip, and no other is nearly as close. */
export function certainMatch(name: string, known: Iterable<string>): string | null {
  const close = closest(name, known);
  const same = close.filter(({ distance }) => distance === 0);
  const [best, next] = same.length > 0 ? same : close;
  if (best === undefined || (best.distance !== PLURAL && !isSlip(name, best.word))) return null;
  const isAlone = best.distance <= 0 ? next?.distance !== best.distance : (next?.distance ?? 3) >= best.distance + 2;
  return isAlone ? best.word : null;
}

/** The same for names that people choose, or that others have elsewhere: `gitee` is not `gitea`, and `dev2` is not `dev`. */
export function certainName(name: string, known: Iterable<string>): string | null {
  const meant = certainMatch(name, known);
  const isReplaced = meant !== null && meant.length === name.length && sorted(fold(meant)) !== sorted(fold(name));
  return isReplaced ? null : meant;
}

interface RenameFix {
  readonly kind: 'rename';
  readonly text: string;
}

/** A fix that renames, if only one name can be meant. */
export function renameFix(name: string, known: Iterable<string>): { readonly fix?: RenameFix } {
  const meant = certainName(name, known);
  return meant === null ? {} : { fix: { kind: 'rename', text: meant } };
}

/** Whether a text is a word with other separators or case, or with one letter wrong in a long part. A digit is never a slip. */
export function isSlip(text: string, word: string): boolean {
  const [one, other] = [fold(text), fold(word)];
  if (one.replaceAll('_', '') === other.replaceAll('_', '')) return true;
  if (one.replace(/\D/g, '') !== other.replace(/\D/g, '')) return false;
  const [own, others] = [one.split(/[^a-z0-9]/), other.split(/[^a-z0-9]/)];
  const [wrong, second] = own.flatMap((part, index) => (part === others[index] ? [] : [[part, others[index] ?? '']]));
  if (own.length !== others.length || wrong === undefined || second !== undefined) return false;
  const [a = '', b = ''] = wrong;
  const letters = Math.max(a.length, b.length);
  return editDistance(a, b, 1) <= 1 && letters >= (sorted(a) === sorted(b) ? 4 : 5);
}

const sorted = (text: string): string => [...text].sort().join('');

interface Close {
  readonly word: string;
  readonly distance: number;
}

function closest(name: string, known: Iterable<string>): readonly Close[] {
  if (name.length > MAX_LENGTH) return [];
  const plain = fold(name);
  const limit = Math.max(1, Math.floor(plain.length * 0.4));
  const close: Close[] = [];
  for (const word of new Set(known)) {
    if (Math.abs(word.length - name.length) > limit) continue;
    const distance = isPlural(plain, fold(word)) ? PLURAL : editDistance(plain, fold(word), limit);
    if (distance <= limit) close.push({ word, distance });
  }
  return close.sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1));
}

/** Returns `; did you mean \`a\` or \`b\`?` to append to a message, or an empty string. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const words = suggest(name, known);
  return words.length === 0 ? '' : `; did you mean ${oneOf(words)}?`;
}

/** "`a`, `b` or `c`". */
export function oneOf(words: readonly string[], last = 'or'): string {
  const quoted = words.map((word) => `\`${word}\``);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} ${last} ${quoted.at(-1)}`;
}

/** Ignores differences of case and separators. */
export const fold = (word: string): string => word.toLowerCase().replaceAll('-', '_');

/** The distance of a name that differs by a plural `s` alone: nothing else is meant. */
const PLURAL = -1;
export const isPlural = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) > 2 && (`${a}s` === b || `${b}s` === a);
