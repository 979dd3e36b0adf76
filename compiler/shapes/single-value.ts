/** The one text a field always has in one form of an event, which tells that form from the others. */
import { findPath } from './find-path.ts';
import type { NodeId, ShapeGraph } from './shape.ts';

/** null: there is no such field, or it may be several texts. */
export function singleValue(graph: ShapeGraph, root: NodeId, path: readonly string[]): string | null {
  const found = findPath(graph, root, path);
  if (found.kind !== 'node') return null;
  const [value, ...others] = graph.node(found.node).values ?? [];
  return typeof value === 'string' && others.length === 0 ? value : null;
}
