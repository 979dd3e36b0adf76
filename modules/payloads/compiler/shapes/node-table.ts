/** A shape's graph of nodes under construction. */
import type { NodeId, ShapeGraph, ShapeNode } from './shape.ts';

export interface NodeTable extends ShapeGraph {
  add(node: ShapeNode): NodeId;
  /** Reserves a number for a node that is defined later: a recursive type needs its own number first. */
  reserve(): NodeId;
  define(id: NodeId, node: ShapeNode): void;
  readonly size: number;
}

export const ANY: ShapeNode = Object.freeze({
  types: new Set(['any'] as const),
  values: null,
  format: null,
  leafClass: null,
  properties: new Map(),
  rest: null,
  items: null,
});

export function createNodeTable(): NodeTable {
  // A reserved number is `any` until it is defined.
  const nodes: ShapeNode[] = [];
  return {
    add: (node) => nodes.push(node) - 1,
    reserve: () => nodes.push(ANY) - 1,
    define(id, node) {
      nodes[id] = node;
    },
    node(id) {
      const node = nodes[id];
      if (node === undefined) throw new RangeError(`the graph has no node ${id}`);
      return node;
    },
    get size() {
      return nodes.length;
    },
  };
}
