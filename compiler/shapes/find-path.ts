/** Looks a path up in a shape: where `{a.b.0.c}` leads in the payloads of one form of an event. */
import type { NodeId, ShapeGraph } from './shape.ts';

/** `open`: something may be there, and nothing is known of it. */
export type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'open' }
  | { readonly kind: 'node'; readonly node: NodeId; readonly optional: boolean };

const ABSENT: Found = { kind: 'absent' };
const OPEN: Found = { kind: 'open' };
const INDEX = /^(?:0|[1-9]\d*)$/;

/** Parts as a template has them: names, and decimal indexes of arrays. */
export function findPath(graph: ShapeGraph, root: NodeId, path: readonly string[]): Found {
  let id = root;
  let optional = false;
  for (const part of path) {
    const { types, properties, rest, items } = graph.node(id);
    if (types.has('any')) return OPEN;
    const property = properties.get(part);
    if (property !== undefined) {
      // A value of several types may be one that has no such property.
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
