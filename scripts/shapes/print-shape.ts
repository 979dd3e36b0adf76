/** Writes a shape as a file of `catalog/shapes/`: each node once, those that are named most often under the shortest numbers. */
import { printNode } from '../../compiler/shapes/encoding.ts';
import type { NodeId, ShapeGraph, ShapeNode, ShapeOrigin, ShapeQuality } from '../../compiler/shapes/shape.ts';
import type { ShapeFile } from '../../compiler/shapes/shape-file.ts';
import { byName, minimise } from './minimise.ts';

export interface NewShape {
  readonly source: string;
  readonly quality: ShapeQuality;
  readonly from: readonly ShapeOrigin[];
  readonly action: string | null;
  readonly graph: ShapeGraph;
  /** Roots of the forms of each event. */
  readonly events: ReadonlyMap<string, readonly NodeId[]>;
}

const GENERATED = 'by scripts/shapes.ts from the packages below. Do not edit.';

export function printShape({ graph, events, source, quality, from, action }: NewShape): string {
  const classes = minimise(graph, [...events.values()].flat());
  const classOf = (id: NodeId): number => classes.get(id) ?? 0;
  // One node stands for its class.
  const members = new Map([...classes].map(([id, number]) => [number, graph.node(id)]));
  const order = byUse(members, classOf);
  const names = new Map(order.map((number, index) => [number, index]));
  const idOf = (id: NodeId): number => names.get(classOf(id)) ?? 0;
  const sorted = order.map((number) => withSortedProperties(members.get(number) as ShapeNode));
  const anyClass = [...members].find(([, { types }]) => types.has('any'))?.[0];
  const any = [...classes].find(([, number]) => number === anyClass)?.[0] ?? null;
  const nodes = sorted.map((node) =>
    printNode(node, (id) => idOf(id).toString(36), any === null ? null : sameAs(node.rest, any, classOf)),
  );
  const file: ShapeFile = {
    generated: GENERATED,
    source,
    quality,
    from,
    action,
    events: Object.fromEntries([...events].sort(byName).map(([event, roots]) => [event, rootsOf(roots, idOf)])),
    nodes,
  };
  return `${JSON.stringify(file, null, 1)}\n`;
}

/** `printNode` compares numbers; every node that holds anything is meant. */
const sameAs = (rest: NodeId | null, any: NodeId, classOf: (id: NodeId) => number): NodeId | null =>
  rest !== null && classOf(rest) === classOf(any) ? rest : any;

const rootsOf = (roots: readonly NodeId[], idOf: (id: NodeId) => number): string =>
  [...new Set(roots.map(idOf))].map((id) => id.toString(36)).join(' ');

/** The class of the node that holds anything first, as a reader expects it. */
function byUse(members: ReadonlyMap<number, ShapeNode>, classOf: (id: NodeId) => number): readonly number[] {
  const uses = new Map([...members.keys()].map((number) => [number, 0]));
  const count = (id: NodeId | null): void => {
    if (id !== null) uses.set(classOf(id), (uses.get(classOf(id)) ?? 0) + 1);
  };
  for (const { properties, rest, items } of members.values()) {
    for (const { node } of properties.values()) count(node);
    count(rest);
    count(items);
  }
  const isAny = (number: number): boolean => members.get(number)?.types.has('any') === true;
  return [...uses]
    .sort(([a, left], [b, right]) => Number(isAny(b)) - Number(isAny(a)) || right - left || a - b)
    .map(([number]) => number);
}

const withSortedProperties = (node: ShapeNode): ShapeNode => ({
  ...node,
  properties: new Map([...node.properties].sort(byName)),
});
