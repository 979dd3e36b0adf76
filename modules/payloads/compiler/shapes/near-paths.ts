/** Finds paths with a small edit distance to a given path. The search abandons a branch once its distance exceeds the limit. */
import type { Level, PathTree } from './path-tree.ts';

export interface NearPath {
  readonly path: readonly string[];
  /** The number of insertions, deletions, substitutions and transpositions. */
  readonly distance: number;
}

/** Returns all paths with a distance of at most `limit`, unsorted. */
export function nearPaths(tree: PathTree, path: readonly string[], limit: number): readonly NearPath[] {
  const wanted = fold(path.join('.'));
  const found: NearPath[] = [];
  const first: Rows = {
    last: '',
    row: Array.from({ length: wanted.length + 1 }, (_, index) => index),
    before: [],
  };
  const visit = (level: Level, rows: Rows, parts: readonly string[]): void => {
    for (const [name, child] of tree.children(level)) {
      const text = parts.length === 0 ? name : `.${name}`;
      const next = extend(rows, fold(text), wanted, limit);
      if (next === null) continue;
      const below = [...parts, name];
      const distance = next.row.at(-1) ?? limit + 1;
      if (distance <= limit) found.push({ path: below, distance });
      visit(child, next, below);
    }
  };
  visit(tree.root, first, []);
  return found;
}

/** The rows of the distance matrix that the next letter needs. */
interface Rows {
  /** The letter of the last row. */
  readonly last: string;
  readonly row: readonly number[];
  readonly before: readonly number[];
}

/** Returns null if every continuation of the text exceeds the limit. */
function extend(rows: Rows, text: string, wanted: string, limit: number): Rows | null {
  let current = rows;
  for (const letter of text) {
    const row = nextRow(current, letter, wanted, limit);
    if (row === null) return null;
    current = { last: letter, row, before: current.row };
  }
  return current;
}

/** Returns null if all distances exceed the limit. */
function nextRow({ last, row, before }: Rows, letter: string, wanted: string, limit: number): readonly number[] | null {
  const next = [at(row, 0) + 1];
  for (let index = 1; index <= wanted.length; index++) {
    const same = wanted[index - 1] === letter;
    const best = Math.min(at(row, index) + 1, at(next, index - 1) + 1, at(row, index - 1) + (same ? 0 : 1));
    const isSwap = index > 1 && wanted[index - 2] === letter && wanted[index - 1] === last;
    next.push(isSwap ? Math.min(best, at(before, index - 2) + 1) : best);
  }
  return Math.min(...next) > limit ? null : next;
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

/** Ignores differences of case and separators. */
const fold = (text: string): string => text.toLowerCase().replaceAll('-', '_');
