/** Converts JSON Schema (draft-07 to 2020-12, and the OpenAPI dialect) to nodes, for `shape:` and for the shipped shapes. */
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { jsonType } from './json-type.ts';
import type { LazyNodes } from './lazy-nodes.ts';
import { createLazyNodes } from './lazy-nodes.ts';
import type { LeafClass } from './leaf-class.ts';
import { isLeafClass } from './leaf-class.ts';
import type { NodeTable } from './node-table.ts';
import { ANY } from './node-table.ts';
import type { NodeId, ScalarValue, ShapeNode, ShapeProperty, ShapeType } from './shape.ts';

type Schema = Readonly<Record<string, unknown>>;

export interface SchemaReader {
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

const TYPES: ReadonlySet<string> = new Set<ShapeType>([
  'string',
  'integer',
  'number',
  'boolean',
  'null',
  'object',
  'array',
]);

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

/** Formats that are kept, by JSON Schema name. */
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
