/** Measures how similar two names are, for "did you mean" of the compiler and for log lines about unknown paths. */

/** Maximum length of the end of a path that is compared, in UTF-16 units. */
const LONGEST_NAME = 64;

/**
 * Returns the known path that may be meant: its last part is the most similar one, in any case and behind any other parts; null if
 * none is similar.
 */
export function nearestPath(path: string, known: readonly string[]): string | null {
  const name = lastPart(path);
  if (name === '' || name.length > LONGEST_NAME) return null;
  const limit = Math.max(1, Math.floor(name.length / 4));
  let best: string | null = null;
  let least = limit;
  for (const one of known) {
    const other = lastPart(one);
    if (Math.abs(other.length - name.length) > least) continue;
    const distance = editDistance(name, other, least);
    if (distance > least || (distance === least && best !== null && !isCloser(path, one, best))) continue;
    best = one;
    least = distance;
  }
  return best;
}

const lastPart = (path: string): string => (/[^/]+(?=\/*$)/.exec(path)?.[0] ?? '').toLowerCase().replaceAll('_', '-');

/** Whether the parts before the last one say that this path is meant, and not the other: the profile. */
function isCloser(path: string, one: string, other: string): boolean {
  const [start, ...ends] = [path, one, other].map((each) => each.slice(0, LONGEST_NAME));
  const [near = 0, far = 0] = ends.map((end) => editDistance(start ?? '', end, LONGEST_NAME));
  return near < far;
}

/** Counts insertions, deletions, substitutions and transpositions. Distances above `limit` may be returned as `limit + 1`. */
export const editDistance = (a: string, b: string, limit: number): number =>
  extendRows(firstRows(b), a, b, limit)?.row.at(-1) ?? limit + 1;

/** The rows of the distance matrix that the next letter of a text needs. */
export interface DistanceRows {
  /** The letter of the last row. */
  readonly last: string;
  readonly row: readonly number[];
  readonly before: readonly number[];
}

/** The rows of an empty text. */
export const firstRows = (wanted: string): DistanceRows => ({
  last: '',
  row: Array.from({ length: wanted.length + 1 }, (_, index) => index),
  before: [],
});

/** The rows after the text is added; null if every text that begins so is farther from the wanted one than the limit. */
export function extendRows(rows: DistanceRows, text: string, wanted: string, limit: number): DistanceRows | null {
  let current = rows;
  for (const letter of text) {
    const { last, row, before } = current;
    const next = [at(row, 0) + 1];
    for (let index = 1; index <= wanted.length; index++) {
      const cost = wanted[index - 1] === letter ? 0 : 1;
      const best = Math.min(at(row, index) + 1, at(next, index - 1) + 1, at(row, index - 1) + cost);
      const isSwap = index > 1 && wanted[index - 2] === letter && wanted[index - 1] === last;
      next.push(isSwap ? Math.min(best, at(before, index - 2) + 1) : best);
    }
    if (Math.min(...next) > limit) return null;
    current = { last: letter, row: next, before: row };
  }
  return current;
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
