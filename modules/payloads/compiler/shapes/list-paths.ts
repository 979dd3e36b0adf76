/** Lists the paths of event forms, with their nodes, for `source shape` and editors. */
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
}

/** Maximum number of paths; mutually recursive types have millions. Deeper paths are omitted. */
export const MAX_PATHS = 10_000;

/** Lists parents before children. Does not follow a path that leads back to a node on it. */
export function listPaths(set: FormSet, { prefix = '' }: PathSelection = {}): readonly ListedPath[] {
  const tree = treeOf(set);
  const listed: ListedPath[] = [];
  const walk = (at: Step, left: number): void => {
    if (left === 0) return;
    for (const below of stepsFrom(tree, at, prefix)) {
      const { path, level } = below;
      if (path.join('.').startsWith(prefix))
        listed.push({ path, nodes: level.map((id) => set.shape.graph.node(id)), found: set.find(path) });
      if (below.isNew) walk(below, left - 1);
    }
  };
  walk(startOf(tree, prefix), depthThatFits(set, prefix) ?? Number.POSITIVE_INFINITY);
  return listed;
}

/** The maximum depth after the prefix at which there are at most `MAX_PATHS` paths; null if all fit. */
export function depthThatFits(set: FormSet, prefix = ''): number | null {
  const tree = treeOf(set);
  let frontier: readonly Step[] = [startOf(tree, prefix)];
  let count = 0;
  for (let depth = 0; frontier.length > 0; depth++) {
    const next: Step[] = [];
    for (const at of frontier) {
      const steps = stepsFrom(tree, at, prefix);
      count += steps.length;
      if (count > MAX_PATHS) return Math.max(depth, 1);
      next.push(...steps.filter(({ isNew }) => isNew));
    }
    frontier = next;
  }
  return null;
}

interface Step {
  readonly path: readonly string[];
  readonly level: Level;
  /** Keys of the levels on the path. */
  readonly above: ReadonlySet<string>;
  /** Whether it is not among those before it, so that the walk descends. */
  readonly isNew: boolean;
}

function startOf(tree: PathTree, prefix: string): Step {
  const path = prefix.split('.').slice(0, -1);
  const level = tree.below(tree.root, path);
  return { path, level, above: new Set([key(level)]), isNew: true };
}

/** The children that match the prefix or lead to it. */
function stepsFrom(tree: PathTree, at: Step, prefix: string): readonly Step[] {
  return [...tree.children(at.level)].flatMap(([name, level]): readonly Step[] => {
    const path = [...at.path, name];
    const text = path.join('.');
    if (!text.startsWith(prefix) && !prefix.startsWith(`${text}.`)) return [];
    return [{ path, level, above: new Set([...at.above, key(level)]), isNew: !at.above.has(key(level)) }];
  });
}

const key = (level: Level): string => level.join(' ');
