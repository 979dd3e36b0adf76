/** Lists the paths of event forms, with their nodes, for `source shape`, completion and editors. */
import type { Found } from './find-path.ts';
import type { FormSet } from './form-set.ts';
import type { Level, PathTree } from './path-tree.ts';
import type { ShapeNode } from './shape.ts';
import { treeOf } from './suggest-path.ts';

export interface ListedPath {
  readonly path: readonly string[];
  /** The path's nodes in the forms that have it. */
  readonly nodes: readonly ShapeNode[];
  /** The lookup result for each form of the set, in order. */
  readonly found: readonly Found[];
}

export interface PathSelection {
  /** Lists only paths that begin with this text. */
  readonly prefix?: string;
  /** Maximum number of parts after the prefix. */
  readonly depth?: number;
}

/** Maximum number of paths; mutually recursive types have millions. Deeper paths are omitted. */
export const MAX_PATHS = 10_000;

/** Lists parents before children. Does not follow a path that leads back to a node on it. */
export function listPaths(
  set: FormSet,
  { prefix = '', depth = depthThatFits(set, prefix) ?? Number.POSITIVE_INFINITY }: PathSelection = {},
): readonly ListedPath[] {
  const tree = treeOf(set);
  const { walk: first, level, parts } = startOf(tree, prefix);
  const found: (readonly string[])[] = [];
  walk(tree, level, { ...first, most: parts + depth }, found);
  return found.map((path) => ({
    path,
    nodes: tree.below(tree.root, path).map((id) => set.shape.graph.node(id)),
    found: set.find(path),
  }));
}

/** The maximum depth after the prefix at which there are at most `MAX_PATHS` paths; null if all fit. */
export function depthThatFits(set: FormSet, prefix = ''): number | null {
  const tree = treeOf(set);
  const { walk: first, level: start } = startOf(tree, prefix);
  let frontier: readonly (readonly [Walk, Level])[] = [[first, start]];
  let count = 0;
  for (let depth = 0; frontier.length > 0; depth++) {
    const next: (readonly [Walk, Level])[] = [];
    for (const [at, level] of frontier)
      for (const [below, child, isNew] of stepsFrom(tree, level, at)) {
        if (++count > MAX_PATHS) return Math.max(depth, 1);
        if (isNew) next.push([below, child]);
      }
    frontier = next;
  }
  return null;
}

function startOf(tree: PathTree, prefix: string): { walk: Walk; level: Level; parts: number } {
  const path = prefix.split('.').slice(0, -1);
  const level = tree.below(tree.root, path);
  const walk = { path, above: new Set([key(level)]), most: Number.POSITIVE_INFINITY, prefix };
  return { walk, level, parts: path.length };
}

interface Walk {
  readonly path: readonly string[];
  readonly above: ReadonlySet<string>;
  readonly most: number;
  readonly prefix: string;
}

function walk(tree: PathTree, level: Level, at: Walk, found: (readonly string[])[]): void {
  if (at.path.length >= at.most) return;
  for (const [below, child, isNew] of stepsFrom(tree, level, at)) {
    if (below.path.join('.').startsWith(at.prefix)) found.push(below.path);
    if (isNew) walk(tree, child, below, found);
  }
}

type Step = readonly [below: Walk, child: Level, isNew: boolean];

/** The children that match the prefix or lead to it, and whether to descend into them. */
function stepsFrom(tree: PathTree, level: Level, at: Walk): readonly Step[] {
  return [...tree.children(level)].flatMap(([name, child]): readonly Step[] => {
    const path = [...at.path, name];
    const text = path.join('.');
    if (!text.startsWith(at.prefix) && !at.prefix.startsWith(`${text}.`)) return [];
    const isNew = !at.above.has(key(child));
    return [[{ ...at, path, above: isNew ? new Set([...at.above, key(child)]) : at.above }, child, isNew]];
  });
}

const key = (level: Level): string => level.join(' ');
