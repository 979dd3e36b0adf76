/** The paths of several event forms as one tree: each level contains the nodes of all forms at a path. */
import type { NodeId, ShapeGraph, ShapeProperty } from './shape.ts';

/** The nodes at a path in all forms that have it, without duplicates. */
export type Level = readonly NodeId[];

export interface PathTree {
  readonly root: Level;
  /** Children by name; list elements are `0`. Unlisted properties of open objects are omitted. */
  children(level: Level): ReadonlyMap<string, Level>;
  /** Empty if no form has the path. */
  below(level: Level, path: readonly string[]): Level;
  isOpen(level: Level): boolean;
  /** Whether all nodes are texts, numbers or booleans. */
  isLeaf(level: Level): boolean;
}

export function createPathTree(graph: ShapeGraph, roots: readonly NodeId[]): PathTree {
  const known = new Map<string, ReadonlyMap<string, Level>>();
  const children = (level: Level): ReadonlyMap<string, Level> => {
    const key = level.join(' ');
    const found = known.get(key) ?? readChildren(graph, level);
    known.set(key, found);
    return found;
  };
  const step = (level: Level, part: string): Level =>
    children(level).get(part) ?? (INDEX.test(part) ? itemsOf(graph, level) : []);
  return {
    root: [...new Set(roots)],
    children,
    below: (level, path) => path.reduce(step, level),
    isOpen: (level) => level.some((id) => graph.node(id).types.has('any') || graph.node(id).rest !== null),
    isLeaf: (level) => level.every((id) => [...graph.node(id).types].every((type) => LEAVES.has(type))),
  };
}

const INDEX = /^(?:0|[1-9]\d*)$/;

const LEAVES: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

function readChildren(graph: ShapeGraph, level: Level): ReadonlyMap<string, Level> {
  const found = new Map<string, Set<NodeId>>();
  const add = (name: string, { node }: Pick<ShapeProperty, 'node'>): void => {
    const known = found.get(name);
    if (known === undefined) found.set(name, new Set([node]));
    else known.add(node);
  };
  for (const id of level) for (const [name, property] of graph.node(id).properties) add(name, property);
  for (const item of itemsOf(graph, level)) add('0', { node: item });
  return new Map([...found].map(([name, ids]) => [name, [...ids].sort((a, b) => a - b)]));
}

const itemsOf = (graph: ShapeGraph, level: Level): Level => [
  ...new Set(level.flatMap((id) => graph.node(id).items ?? [])),
];
