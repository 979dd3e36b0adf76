/** Lists the paths of forms with what is known of each, for `source shape`, completion and editors. */
import type { Found } from './find-path.ts';
import type { FormSet } from './form-set.ts';
import type { Level, PathTree } from './path-tree.ts';
import type { ShapeNode } from './shape.ts';
import { treeOf } from './suggest-path.ts';

export interface ListedPath {
  readonly path: readonly string[];
  /** Of the forms that have it. */
  readonly nodes: readonly ShapeNode[];
  /** Where it leads, for each form of the set in turn. */
  readonly found: readonly Found[];
}

export interface PathSelection {
  /** Paths that begin with this text. */
  readonly prefix?: string;
  /** Parts below the prefix; deeper ones are left out. */
  readonly depth?: number;
}

/** A path that leads back to where it came from is not followed further. In the order of a reader: parents before children. */
export function listPaths(
  set: FormSet,
  { prefix = '', depth = Number.POSITIVE_INFINITY }: PathSelection = {},
): readonly ListedPath[] {
  const tree = treeOf(set);
  const parts = prefix.split('.');
  const start = parts.slice(0, -1);
  const level = tree.below(tree.root, start);
  const found: (readonly string[])[] = [];
  walk(tree, level, { path: start, above: new Set([key(level)]), most: parts.length - 1 + depth, prefix }, found);
  return found.map((path) => ({
    path,
    nodes: tree.below(tree.root, path).map((id) => set.shape.graph.node(id)),
    found: set.find(path),
  }));
}

interface Walk {
  readonly path: readonly string[];
  readonly above: ReadonlySet<string>;
  readonly most: number;
  readonly prefix: string;
}

function walk(tree: PathTree, level: Level, { path, above, most, prefix }: Walk, found: (readonly string[])[]): void {
  if (path.length >= most) return;
  for (const [name, child] of tree.children(level)) {
    const below = [...path, name];
    const text = below.join('.');
    if (!text.startsWith(prefix) && !prefix.startsWith(`${text}.`)) continue;
    if (text.startsWith(prefix)) found.push(below);
    if (!above.has(key(child)))
      walk(tree, child, { path: below, above: new Set([...above, key(child)]), most, prefix }, found);
  }
}

const key = (level: Level): string => level.join(' ');
