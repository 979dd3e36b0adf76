/** The paths of several forms as one tree: each step leads to the nodes that any of the forms has there. */
import type { NodeId, ShapeGraph, ShapeProperty } from './shape.ts';

/** Where a path leads in each of the forms that have it; without repetitions. */
export type Level = readonly NodeId[];

export interface PathTree {
  readonly root: Level;
  /** By name, and the elements of a list under `0`. What is not listed in an open object is not there. */
  children(level: Level): ReadonlyMap<string, Level>;
  /** Empty: no form has it. */
  below(level: Level, path: readonly string[]): Level;
  isOpen(level: Level): boolean;
  /** A text, number or boolean, and nothing else. */
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
