/** "Did you mean": finds the known names that are most similar to an unknown one. */

const MAX_SUGGESTIONS = 3;
/** Longer names get no suggestions. */
const MAX_LENGTH = 64;

/** Returns at most three names, most similar first; empty if none is similar. */
export function suggest(name: string, known: Iterable<string>): readonly string[] {
  const close = closest(name, known);
  const most = close[0]?.distance === PLURAL ? 1 : MAX_SUGGESTIONS;
  return close.slice(0, most).map(({ word }) => word);
}

/** Returns the only name that can be meant: at most one or two typos away, with no other name nearly as close. */
export function certainMatch(name: string, known: Iterable<string>): string | null {
  const [best, next] = closest(name, known);
  if (best === undefined || best.distance > 2) return null;
  if (best.distance === PLURAL) return best.word;
  // A difference of only case or separators is not a typo.
  if (best.distance === 0 && next?.distance !== 0) return best.word;
  return next === undefined || next.distance >= best.distance + 2 ? best.word : null;
}

interface RenameFix {
  readonly kind: 'rename';
  readonly text: string;
}

/** A fix that renames, if only one name can be meant. */
export function renameFix(name: string, known: Iterable<string>): { readonly fix?: RenameFix } {
  const meant = certainMatch(name, known);
  return meant === null ? {} : { fix: { kind: 'rename', text: meant } };
}

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
const fold = (word: string): string => word.toLowerCase().replaceAll('-', '_');

/** The distance of a name that differs by a plural `s` alone: nothing else is meant. */
const PLURAL = -1;
const isPlural = (a: string, b: string): boolean => `${a}s` === b || `${b}s` === a;

/** Counts insertions, deletions, substitutions and transpositions. Distances above `limit` may be returned as `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + cost);
      row.push(swapped ? Math.min(best, at(before, j - 2) + 1) : best);
    }
    if (Math.min(...row) > limit) return limit + 1;
    before = previous;
    previous = row;
  }
  return at(previous, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
