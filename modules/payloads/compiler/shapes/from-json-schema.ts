/** Converts JSON Schema (draft-07 to 2020-12, and the OpenAPI dialect) to nodes, for `shape:` and for the shipped shapes. */
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { LeafClass, NodeId, NodeTable, ScalarValue, ShapeNode, ShapeProperty, ShapeType } from './shape.ts';
import { ANY, allowsType, isLeafClass, JSON_TYPES, jsonType } from './shape.ts';

type Schema = Readonly<Record<string, unknown>>;

interface SchemaReader {
  /** Returns the node for a schema of the document. A reference to another document becomes a node for any value. */
  read(schema: unknown): NodeId;
}

/** @param document the document in which references (`#/…`) are resolved @param table receives the nodes */
export function createSchemaReader(document: unknown, table: NodeTable): SchemaReader {
  const anything = table.add(ANY);
  const nodes = createLazyNodes<Schema>(table, (schema) => readParts(schema, reading));
  const reading: Reading = { document, table, nodes, anything };
  return {
    read(schema) {
      const id = readSchema(schema, reading);
      nodes.finish();
      return id;
    },
  };
}

interface Reading {
  readonly document: unknown;
  readonly table: NodeTable;
  readonly nodes: LazyNodes<Schema>;
  readonly anything: NodeId;
}

const readSchema = (schema: unknown, { nodes, anything }: Reading): NodeId =>
  isPlainMap(schema) ? nodes.idOf(schema) : anything;

/** Combines the schema's own keywords with its subschemas. */
function readParts(schema: Schema, reading: Reading): NodeId {
  const { unite, intersect } = reading.nodes.joiner;
  const own = ownNode(schema, reading);
  const parts = [
    ...(own === null ? [] : [reading.table.add(own)]),
    ...(typeof schema.$ref === 'string' ? [readSchema(referenced(schema.$ref, reading.document), reading)] : []),
    ...listOf(schema.allOf).map((member) => readSchema(member, reading)),
    ...[schema.oneOf, schema.anyOf].flatMap((members): readonly NodeId[] => {
      const nodes = listOf(members).map((member) => readSchema(member, reading));
      return nodes.length === 0 ? [] : [nodes.reduce(unite)];
    }),
  ];
  return parts.length === 0 ? reading.anything : parts.reduce(intersect);
}

/** Returns null if the schema itself does not restrict the value. */
function ownNode(schema: Schema, reading: Reading): ShapeNode | null {
  const values = valuesOf(schema);
  const types = typesOf(schema, values);
  if (types.size === 0) return null;
  const scalars = values?.filter(isScalar) ?? null;
  return {
    types,
    values: scalars === null || scalars.length === 0 ? null : scalars,
    format: types.has('string') ? formatOf(schema) : null,
    leafClass: classOf(schema),
    properties: types.has('object') ? propertiesOf(schema, reading) : new Map(),
    rest: types.has('object') ? restOf(schema, reading) : null,
    items: types.has('array') ? readSchema(schema.items, reading) : null,
  };
}

const TYPES: ReadonlySet<string> = new Set(JSON_TYPES);

function typesOf(schema: Schema, values: readonly unknown[] | null): ReadonlySet<ShapeType> {
  const written = typeof schema.type === 'string' ? [schema.type] : listOf(schema.type);
  const types = new Set(written.filter((type): type is ShapeType => typeof type === 'string' && TYPES.has(type)));
  if (types.size === 0) for (const value of values ?? []) types.add(jsonType(value));
  if (types.size === 0 && isPlainMap(schema.properties)) types.add('object');
  if (types.size === 0 && schema.items !== undefined) types.add('array');
  if (types.size > 0 && (schema.nullable === true || values?.includes(null))) types.add('null');
  return types;
}

function valuesOf(schema: Schema): readonly unknown[] | null {
  if (Object.hasOwn(schema, 'const')) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : null;
}

const isScalar = (value: unknown): value is ScalarValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** Formats that shapes preserve, by JSON Schema name. */
const FORMATS: Readonly<Record<string, string>> = {
  uri: 'uri',
  url: 'uri',
  'uri-template': 'uri',
  'date-time': 'date-time',
  date: 'date',
  email: 'email',
  uuid: 'uuid',
};

const formatOf = ({ format }: Schema): string | null =>
  typeof format === 'string' && Object.hasOwn(FORMATS, format) ? (FORMATS[format] ?? null) : null;

/** `x-class` overrides the class. A pattern that cannot match a sentence makes the field an identifier. */
function classOf(schema: Schema): LeafClass | null {
  const written = schema['x-class'];
  if (isLeafClass(written)) return written;
  return typeof schema.pattern === 'string' && WORD_PATTERN.test(schema.pattern) ? 'identifier' : null;
}

/** An anchored pattern of letters, digits, punctuation, `\d`, `\w`, and character classes without white space or negation. */
const WORD_PATTERN = /^\^(?:[\w\-:/@#?*+(){},|]|\\[dw.\-/]|\[(?!\^)(?:[^\]\s\\]|\\[dw.\-/])+\])+\$$/;

function propertiesOf(schema: Schema, reading: Reading): ReadonlyMap<string, ShapeProperty> {
  if (!isPlainMap(schema.properties)) return new Map();
  const required = new Set(listOf(schema.required));
  const entries = Object.entries(schema.properties).map(([name, value]): readonly [string, ShapeProperty] => [
    name,
    { node: readSchema(value, reading), optional: !required.has(name) },
  ]);
  return new Map(entries);
}

/** The type of unlisted properties. Null if the object is closed: its schema lists properties and does not allow others. */
function restOf(schema: Schema, reading: Reading): NodeId | null {
  const { additionalProperties: more, patternProperties, properties } = schema;
  if (isPlainMap(patternProperties) && Object.keys(patternProperties).length > 0) return reading.anything;
  if (more === false) return null;
  if (more === true || isPlainMap(more)) return readSchema(more, reading);
  return isPlainMap(properties) && Object.keys(properties).length > 0 ? null : reading.anything;
}

/** Returns undefined if the reference is unresolved or leads outside the document. */
function referenced(reference: string, document: unknown): unknown {
  if (!reference.startsWith('#')) return undefined;
  const parts = reference.slice(1).split('/').slice(1).map(decodePointer);
  return parts.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at[Number(part)];
    return isPlainMap(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  }, document);
}

function decodePointer(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Reads nodes on demand, because types may be recursive. */
interface LazyNodes<Source> {
  /** The number that the source's node has or will have. */
  idOf(source: Source): NodeId;
  /** Joins nodes, including those that have not been read yet. */
  readonly joiner: Joiner;
  /** Reads the nodes that have been numbered but not read yet. */
  finish(): void;
}

/** @param read returns a source's node or that of another source; a source that refers only to itself becomes any value */
function createLazyNodes<Source>(
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

/** Joins two nodes: values that match either (`unite`), or both (`intersect`). */
interface Joiner {
  /** Values match either node: members of a union, or descriptions of one event in two packages. */
  unite(a: NodeId, b: NodeId): NodeId;
  /** Values match both nodes (`allOf`). If they contradict each other, the second one wins. */
  intersect(a: NodeId, b: NodeId): NodeId;
}

type Join = (a: NodeId, b: NodeId) => NodeId;
type Combine = (a: ShapeNode, b: ShapeNode, join: Join) => ShapeNode;

/** Each pair is joined only once, so types may be recursive. @param table receives the joined nodes */
function createJoiner(table: NodeTable): Joiner {
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

const isScalarNode = ({ types }: ShapeNode): boolean => SCALARS.some((type) => types.has(type));

/** The values of both nodes; null if a node allows other scalars. A node without scalars does not matter. */
function eitherValues(a: ShapeNode, b: ShapeNode): readonly ScalarValue[] | null {
  if (!isScalarNode(a)) return b.values;
  if (!isScalarNode(b)) return a.values;
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
