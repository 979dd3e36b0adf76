/** Compares payloads with shapes: every path of a payload, and every value. */
import { findPath } from '../../modules/payloads/compiler/shapes/form-set.ts';
import type { NodeId, Shape, ShapeGraph, ShapeType } from '../../modules/payloads/compiler/shapes/shape.ts';

export interface PayloadFaults {
  readonly paths: number;
  /** Paths that the shape does not have. */
  readonly unknown: readonly string[];
  /** Values without the type, or outside the values, of the shape. */
  readonly contradicting: readonly string[];
}

/** Compares with all forms that the shape has for the event and the payload's action; null: it has none. */
export function payloadFaults(shape: Shape, event: string, payload: unknown): PayloadFaults | null {
  const action = shape.action === null ? null : valueAt(payload, shape.action);
  const roots = shape.variants.filter(
    (variant) => variant.event === event && (variant.action === null || variant.action === action),
  );
  if (roots.length === 0) return null;
  const paths = pathsOf(payload, []);
  const unknown = paths.filter(({ path }) =>
    roots.every(({ root }) => findPath(shape.graph, root, path).kind === 'absent'),
  );
  const contradicting = paths.filter(({ path, value }) =>
    roots.every(({ root }) => contradicts(shape.graph, root, path, value)),
  );
  return { paths: paths.length, unknown: unknown.map(printed), contradicting: contradicting.map(printed) };
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

const printed = ({ path }: Leaf): string => path.join('.');

function pathsOf(value: unknown, path: readonly string[]): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const below = [...path, name];
    return [{ path: below, value: child }, ...pathsOf(child, below)];
  });
}

function contradicts(graph: ShapeGraph, root: NodeId, path: readonly string[], value: unknown): boolean {
  const found = findPath(graph, root, path);
  if (found.kind !== 'node') return false;
  const { types, values } = graph.node(found.node);
  if (!typesOf(value).some((type) => types.has(type))) return true;
  return values !== null && typeof value !== 'object' && !values.includes(value as string);
}

function typesOf(value: unknown): readonly ShapeType[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value as ShapeType];
}

function valueAt(payload: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[part] : undefined),
    payload,
  );
}
