/** Reads nodes on demand, because types may be recursive. */
import type { NodeTable } from './node-table.ts';
import type { NodeId } from './shape.ts';
import type { Joiner } from './unite.ts';
import { createJoiner } from './unite.ts';

export interface LazyNodes<Source> {
  /** The number that the source's node has or will have. */
  idOf(source: Source): NodeId;
  /** Joins nodes, including those that have not been read yet. */
  readonly joiner: Joiner;
  /** Reads the nodes that have been numbered but not read yet. */
  finish(): void;
}

/** @param read returns a source's node or that of another source; a source that refers only to itself becomes any value */
export function createLazyNodes<Source>(
  table: NodeTable,
  read: (source: Source, nodes: LazyNodes<Source>) => NodeId,
): LazyNodes<Source> {
  const known = new Map<Source, NodeId>();
  const waiting = new Map<NodeId, Source>();
  const node: NodeTable['node'] = (id) => {
    const source = waiting.get(id);
    if (source !== undefined) {
      waiting.delete(id);
      table.define(id, node(read(source, nodes)));
    }
    return table.node(id);
  };
  const nodes: LazyNodes<Source> = {
    idOf(source) {
      const before = known.get(source);
      if (before !== undefined) return before;
      const id = table.reserve();
      known.set(source, id);
      waiting.set(id, source);
      return id;
    },
    joiner: createJoiner({ ...table, node }),
    finish() {
      for (const id of waiting.keys()) node(id);
    },
  };
  return nodes;
}
