/** Paths that differ from a written one by few letters: a search of the tree that leaves each branch as soon as it is too far away. */
import type { Level, PathTree } from './path-tree.ts';

export interface NearPath {
  readonly path: readonly string[];
  /** Insertions, deletions, substitutions and swaps of neighbours. */
  readonly distance: number;
}

/** All at most `limit` away, in no order. */
export function nearPaths(tree: PathTree, path: readonly string[], limit: number): readonly NearPath[] {
  const wanted = fold(path.join('.'));
  const found: NearPath[] = [];
  const first: Rows = { last: '', row: Array.from({ length: wanted.length + 1 }, (_, index) => index), before: [] };
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

/** Of the table of distances, the rows that the next letter needs. */
interface Rows {
  /** The letter the last row stands for. */
  readonly last: string;
  readonly row: readonly number[];
  readonly before: readonly number[];
}

/** null: whatever comes behind the text is too far away. */
function extend(rows: Rows, text: string, wanted: string, limit: number): Rows | null {
  let { last, row, before } = rows;
  for (const letter of text) {
    const next = nextRow({ last, row, before }, letter, wanted);
    if (Math.min(...next) > limit) return null;
    before = row;
    row = next;
    last = letter;
  }
  return { last, row, before };
}

function nextRow({ last, row, before }: Rows, letter: string, wanted: string): readonly number[] {
  const next = [at(row, 0) + 1];
  for (let index = 1; index <= wanted.length; index++) {
    const same = wanted[index - 1] === letter;
    const best = Math.min(at(row, index) + 1, at(next, index - 1) + 1, at(row, index - 1) + (same ? 0 : 1));
    const isSwap = index > 1 && wanted[index - 2] === letter && wanted[index - 1] === last;
    next.push(isSwap ? Math.min(best, at(before, index - 2) + 1) : best);
  }
  return next;
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

/** Case and the choice of separator are no distance. */
const fold = (text: string): string => text.toLowerCase().replaceAll('-', '_');
