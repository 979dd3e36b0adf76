/** Finds the constant value of a field in an event form, which distinguishes the form from others. */
import { findPath } from './find-path.ts';
import type { NodeId, ShapeGraph } from './shape.ts';

/** Returns null if there is no such field, or if it can have several values. */
export function singleValue(graph: ShapeGraph, root: NodeId, path: readonly string[]): string | null {
  const found = findPath(graph, root, path);
  if (found.kind !== 'node') return null;
  const [value, ...others] = graph.node(found.node).values ?? [];
  return typeof value === 'string' && others.length === 0 ? value : null;
}
