/** Joins two nodes: values that match either (`unite`), or both (`intersect`). */
import { allowsType } from './json-type.ts';
import type { NodeTable } from './node-table.ts';
import { ANY } from './node-table.ts';
import type { NodeId, ScalarValue, ShapeNode, ShapeProperty, ShapeType } from './shape.ts';

export interface Joiner {
  /** Values match either node: members of a union, or descriptions of one event in two packages. */
  unite(a: NodeId, b: NodeId): NodeId;
  /** Values match both nodes (`allOf`). If they contradict each other, the second one wins. */
  intersect(a: NodeId, b: NodeId): NodeId;
}

type Join = (a: NodeId, b: NodeId) => NodeId;
type Combine = (a: ShapeNode, b: ShapeNode, join: Join) => ShapeNode;

/** Each pair is joined only once, so types may be recursive. @param table receives the joined nodes */
export function createJoiner(table: NodeTable): Joiner {
  return { unite: memoised(table, union), intersect: memoised(table, intersection) };
}

function memoised(table: NodeTable, combine: Combine): Join {
  const known = new Map<string, NodeId>();
  const join: Join = (a, b) => {
    if (a === b) return a;
    const key = `${a} ${b}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const id = table.reserve();
    known.set(key, id);
    table.define(id, combine(table.node(a), table.node(b), join));
    return id;
  };
  return join;
}

function union(a: ShapeNode, b: ShapeNode, join: Join): ShapeNode {
  if (a.types.has('any') || b.types.has('any')) return ANY;
  return {
    types: withoutNarrower(new Set([...a.types, ...b.types])),
    values: eitherValues(a, b),
    format: eitherFormat(a, b),
    leafClass: a.leafClass === b.leafClass ? a.leafClass : null,
    properties: eitherProperties(a, b, join),
    rest: joinPresent(a.rest, b.rest, join),
    items: joinPresent(a.items, b.items, join),
  };
}

function intersection(a: ShapeNode, b: ShapeNode, join: Join): ShapeNode {
  if (a.types.has('any')) return b;
  if (b.types.has('any')) return a;
  const types = commonTypes(a.types, b.types);
  return {
    types,
    values: bothValues(a.values, b.values),
    format: b.format ?? a.format,
    leafClass: b.leafClass ?? a.leafClass,
    properties: types.has('object') ? bothProperties(a, b, join) : new Map(),
    rest: types.has('object') && a.rest !== null && b.rest !== null ? join(a.rest, b.rest) : null,
    items: types.has('array') ? joinPresent(a.items, b.items, join) : null,
  };
}

/** Removes `integer` if `number` is present. */
function withoutNarrower(types: Set<ShapeType>): ReadonlySet<ShapeType> {
  if (types.has('number')) types.delete('integer');
  return types;
}

function commonTypes(a: ReadonlySet<ShapeType>, b: ReadonlySet<ShapeType>): ReadonlySet<ShapeType> {
  const common = [...new Set([...a, ...b])].filter((type) => allowsType(a, type) && allowsType(b, type));
  return common.length === 0 ? b : new Set(common);
}

const SCALARS: readonly ShapeType[] = ['string', 'integer', 'number', 'boolean'];

const isScalar = ({ types }: ShapeNode): boolean => SCALARS.some((type) => types.has(type));

/** The values of both nodes; null if a node allows other scalars. A node without scalars does not matter. */
function eitherValues(a: ShapeNode, b: ShapeNode): readonly ScalarValue[] | null {
  if (!isScalar(a)) return b.values;
  if (!isScalar(b)) return a.values;
  return a.values === null || b.values === null ? null : [...new Set([...a.values, ...b.values])];
}

function bothValues(a: readonly ScalarValue[] | null, b: readonly ScalarValue[] | null): readonly ScalarValue[] | null {
  if (a === null || b === null) return a ?? b;
  const common = a.filter((value) => b.includes(value));
  return common.length === 0 ? b : common;
}

function eitherFormat(a: ShapeNode, b: ShapeNode): string | null {
  if (!a.types.has('string')) return b.format;
  if (!b.types.has('string')) return a.format;
  return a.format === b.format ? a.format : null;
}

function eitherProperties(a: ShapeNode, b: ShapeNode, join: Join): ReadonlyMap<string, ShapeProperty> {
  if (!a.types.has('object')) return b.properties;
  if (!b.types.has('object')) return a.properties;
  return joinProperties(a, b, (mine, other) => {
    if (mine === undefined || other === undefined) return { node: (mine ?? other)?.node ?? 0, optional: true };
    return { node: join(mine.node, other.node), optional: mine.optional || other.optional };
  });
}

function bothProperties(a: ShapeNode, b: ShapeNode, join: Join): ReadonlyMap<string, ShapeProperty> {
  return joinProperties(a, b, (mine, other) => {
    if (mine === undefined || other === undefined) return (mine ?? other) as ShapeProperty;
    return { node: join(mine.node, other.node), optional: mine.optional && other.optional };
  });
}

function joinProperties(
  a: ShapeNode,
  b: ShapeNode,
  joinOne: (mine: ShapeProperty | undefined, other: ShapeProperty | undefined) => ShapeProperty,
): ReadonlyMap<string, ShapeProperty> {
  const names = new Set([...a.properties.keys(), ...b.properties.keys()]);
  return new Map([...names].map((name) => [name, joinOne(a.properties.get(name), b.properties.get(name))]));
}

const joinPresent = (a: NodeId | null, b: NodeId | null, join: Join): NodeId | null =>
  a === null ? b : b === null ? a : join(a, b);
