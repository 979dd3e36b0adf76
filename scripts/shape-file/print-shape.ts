/** Prints a shape as a file of `catalog/shapes/`. Each node appears once; the most referenced nodes have the shortest numbers. */

import type {
  NodeId,
  ShapeGraph,
  ShapeNode,
  ShapeOrigin,
  ShapeQuality,
} from '../../modules/payloads/compiler/shapes/shape.ts';
import type { ShapeFile } from '../../modules/payloads/compiler/shapes/shape-file.ts';
import { ANY_NODE, printNode } from '../../modules/payloads/compiler/shapes/shape-file.ts';
import { byName, minimise } from './minimise.ts';

export interface NewShape {
  readonly source: string;
  readonly quality: ShapeQuality;
  readonly complete?: true;
  readonly from: readonly ShapeOrigin[];
  readonly action: string | null;
  readonly graph: ShapeGraph;
  /** Roots of the forms of each event. */
  readonly events: ReadonlyMap<string, readonly NodeId[]>;
}

const GENERATED = 'by scripts/shapes.ts from the packages below. Do not edit.';

export function printShape({ graph, events, source, quality, complete, from, action }: NewShape): string {
  const classes = minimise(graph, [...events.values()].flat());
  const classOf = (id: NodeId): number => classes.get(id) ?? 0;
  // One node represents its class.
  const members = new Map([...classes].map(([id, number]) => [number, graph.node(id)]));
  const isAny = (number: number): boolean => members.get(number)?.types.has('any') === true;
  const order = byUse(members, classOf).filter((number) => !isAny(number));
  const names = new Map(order.map((number, index) => [number, index + 1]));
  const idOf = (id: NodeId): number => names.get(classOf(id)) ?? ANY_NODE;
  const isAnyNode = (id: NodeId | null): NodeId | null => (id !== null && isAny(classOf(id)) ? id : null);
  const nodes = order.map((number) => {
    const node = withSortedProperties(members.get(number) as ShapeNode);
    return printNode(node, (id) => idOf(id).toString(36), isAnyNode(node.rest));
  });
  const file: ShapeFile = {
    generated: GENERATED,
    source,
    quality,
    ...(complete === undefined ? {} : { complete }),
    from,
    action,
    events: Object.fromEntries([...events].sort(byName).map(([event, roots]) => [event, rootsOf(roots, idOf)])),
    nodes: ['*', ...nodes],
  };
  return `${JSON.stringify(file, null, 1)}\n`;
}

const rootsOf = (roots: readonly NodeId[], idOf: (id: NodeId) => number): string =>
  [...new Set(roots.map(idOf))].map((id) => id.toString(36)).join(' ');

/** Sorts nodes by the number of references, descending. */
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
  return [...uses].sort(([a, left], [b, right]) => right - left || a - b).map(([number]) => number);
}

const withSortedProperties = (node: ShapeNode): ShapeNode => ({
  ...node,
  properties: new Map([...node.properties].sort(byName)),
});
