/** Looks up a path such as `{a.b.0.c}` in one event form of a shape. */
import type { NodeId, ShapeGraph } from './shape.ts';

/** `open`: there may be a value, but nothing is known about it. */
export type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'open' }
  | { readonly kind: 'node'; readonly node: NodeId; readonly optional: boolean };

const ABSENT: Found = { kind: 'absent' };
const OPEN: Found = { kind: 'open' };
const INDEX = /^(?:0|[1-9]\d*)$/;

/** @param path parts as in a template: names, and decimal array indexes */
export function findPath(graph: ShapeGraph, root: NodeId, path: readonly string[]): Found {
  let id = root;
  let optional = false;
  for (const part of path) {
    const { types, properties, rest, items } = graph.node(id);
    if (types.has('any')) return OPEN;
    const property = properties.get(part);
    if (property !== undefined) {
      // A value of several types may be of a type without this property.
      optional ||= property.optional || types.size > 1;
      id = property.node;
    } else if (items !== null && INDEX.test(part)) {
      optional = true;
      id = items;
    } else if (rest !== null) {
      optional = true;
      id = rest;
    } else return ABSENT;
  }
  return graph.node(id).types.has('any') ? OPEN : { kind: 'node', node: id, optional };
}
