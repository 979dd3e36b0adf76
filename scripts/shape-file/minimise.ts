/** Finds equivalent nodes of a graph, including recursive types (partition refinement). */

import type { NodeId, ShapeGraph } from '../../modules/payloads/compiler/shapes/shape.ts';
import { printNode } from '../../modules/payloads/compiler/shapes/shape-file.ts';

/** @returns the number of the class of every node that the roots reach */
export function minimise(graph: ShapeGraph, roots: Iterable<NodeId>): ReadonlyMap<NodeId, number> {
  const reached = reach(graph, roots);
  let classes = new Map<NodeId, number>(reached.map((id) => [id, 0]));
  for (let count = 1; ; ) {
    const next = refine(graph, classes);
    const found = new Set(next.values()).size;
    if (found === count) return classes;
    classes = next;
    count = found;
  }
}

/** Keeps nodes in one class if they are equal with the classes of their children as names. */
function refine(graph: ShapeGraph, classes: ReadonlyMap<NodeId, number>): Map<NodeId, number> {
  const numbers = new Map<string, number>();
  const nameOf = (id: NodeId): string => String(classes.get(id));
  return new Map(
    [...classes].map(([id, before]) => {
      const node = graph.node(id);
      const sorted = { ...node, properties: new Map([...node.properties].sort(byName)) };
      const look = `${before} ${printNode(sorted, nameOf, null)}`;
      const number = numbers.get(look) ?? numbers.size;
      numbers.set(look, number);
      return [id, number];
    }),
  );
}

export function reach(graph: ShapeGraph, roots: Iterable<NodeId>): readonly NodeId[] {
  const reached = new Set(roots);
  for (const id of reached) {
    const { properties, rest, items } = graph.node(id);
    for (const { node } of properties.values()) reached.add(node);
    if (rest !== null) reached.add(rest);
    if (items !== null) reached.add(items);
  }
  return [...reached];
}

export const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;
