/** The structure of one sender's payloads: a graph of nodes with a root for each form of each event, and how it is built. */
import { ExactNumber } from '../../../../base/exact-number.ts';
import type { Review } from './field-review.ts';
import type { LeafClass } from './leaf-classes.ts';

/** JSON types of a value, in the order of a schema. */
export const JSON_TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type JsonType = (typeof JSON_TYPES)[number];
/** `any`: the value is unknown, and nothing below it is checked. */
export type ShapeType = JsonType | 'any';

export type ScalarValue = string | number | boolean;

/** Number of a node in its graph. Nodes refer to each other by number, because types may be recursive. */
export type NodeId = number;

export interface ShapeProperty {
  readonly node: NodeId;
  /** Whether some payloads lack it. */
  readonly optional: boolean;
}

export interface ShapeNode {
  readonly types: ReadonlySet<ShapeType>;
  /** The only strings, numbers or booleans that it can be; null if all values of its types are possible. */
  readonly values: readonly ScalarValue[] | null;
  /** Format of its strings (`uri`, `date-time`), or null. */
  readonly format: string | null;
  /** The class that its schema defines, see leaf-classes.ts, or null. */
  readonly leafClass: string | null;
  /** The properties of an object by name; empty for other types. */
  readonly properties: ReadonlyMap<string, ShapeProperty>;
  /** The type of unlisted properties; null if the object is closed. */
  readonly rest: NodeId | null;
  /** The type of an array's elements; null for other types. */
  readonly items: NodeId | null;
}

export interface ShapeGraph {
  /** @throws RangeError if there is no such node */
  node(id: NodeId): ShapeNode;
}

/** One form of an event, for example one of its actions. */
export interface ShapeVariant {
  /** The sender's name for it; `*` if the sender does not name its events. */
  readonly event: string;
  readonly root: NodeId;
  /** The value of the action field, if the form has exactly one. */
  readonly action: string | null;
}

/**
 * `exact`: from types that the sender or its SDK publishes for each event; `good`: complete, but partly inferred;
 * `partial`: some events or fields are missing.
 */
export type ShapeQuality = 'exact' | 'good' | 'partial';

export interface ShapeOrigin {
  readonly package: string;
  readonly version: string;
  readonly licence: string;
}

export interface Shape {
  /** Canonical name of the source. */
  readonly source: string;
  readonly quality: ShapeQuality;
  /** Whether it lists every field: it comes from a machine-readable schema of the sender itself. Other shapes may lack some. */
  readonly complete: boolean;
  /** Packages that it was generated from; empty for the user's own sources. */
  readonly from: readonly ShapeOrigin[];
  /** Path of the field that distinguishes the forms of one event, or null. */
  readonly action: readonly string[] | null;
  readonly graph: ShapeGraph;
  readonly variants: readonly ShapeVariant[];
  /** Decisions about who writes which fields. */
  readonly review: Review;
}

/** The event name for senders that do not name their events. */
export const ANY_EVENT = '*';

/** A shape's graph of nodes under construction. */
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

/** A sender that writes `1.0` has fractions. @param value of JSON */
export function jsonType(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof ExactNumber) return /[.e]/i.test(String(value)) ? 'number' : 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : 'object';
}

/** Whether one of the types has the values of this type. */
export const allowsType = (types: ReadonlySet<ShapeType>, type: ShapeType): boolean =>
  types.has(type) || (type === 'integer' && types.has('number'));

/** Whether values are always an object, a list or null. */
export const isContainer = (types: ReadonlySet<ShapeType>): boolean =>
  (types.has('object') || types.has('array')) && [...types].every((type) => CONTAINERS.has(type));

const CONTAINERS: ReadonlySet<ShapeType> = new Set<ShapeType>(['object', 'array', 'null']);

export type { LeafClass };

/** Whether an outsider can control values of this class. */
export const isUntrusted = (leafClass: LeafClass): boolean => leafClass === 'text' || leafClass === 'unknown';

/** From least to most trusted. */
const ORDER: readonly LeafClass[] = ['unknown', 'text', 'ours', 'url', 'identifier', 'enum', 'number'];

export const isLeafClass = (value: unknown): value is LeafClass => (ORDER as readonly unknown[]).includes(value);

/** The least trusted of several possible classes. */
export const leastTrusted = (classes: readonly LeafClass[]): LeafClass =>
  ORDER.find((each) => classes.includes(each)) ?? 'unknown';

/** The class of a leaf that has not been reviewed. @param name the last part of its path that is not an index */
export function classByType(node: ShapeNode, name: string): LeafClass {
  const { types, values, format, leafClass } = node;
  if (types.has('any')) return 'unknown';
  if (isLeafClass(leafClass)) return leafClass;
  if (values !== null || types.has('boolean')) return types.has('string') && values === null ? 'text' : 'enum';
  if (!types.has('string')) return 'number';
  return (format === null ? undefined : FORMATS[format]) ?? classByName(name);
}

/** Formats of shapes (`from-json-schema.ts`) whose values cannot contain a sentence. E-mail addresses can: anyone may choose the local part. */
const FORMATS: Readonly<Record<string, LeafClass>> = {
  'date-time': 'identifier',
  date: 'identifier',
  uuid: 'identifier',
  uri: 'url',
};

/** Field names that have the same meaning for all senders with known shapes. Other fields are free text. */
const NAMES: readonly (readonly [RegExp, LeafClass])[] = [
  [/^(?:id|uuid|guid|sha|login)$|(?:_id|_ids|_uuid|_sha|_at)$|[a-z](?:Id|Ids|At|Uuid)$/, 'identifier'],
  [/^(?:url|href)$|_url$|[a-z]Url$/, 'url'],
];

const classByName = (name: string): LeafClass => NAMES.find(([names]) => names.test(name))?.[1] ?? 'text';
