/** The structure of one sender's payloads: a graph of nodes, with a root for each form of each event. */
import type { Review } from './field-review.ts';

/** JSON types of a value. `any`: the value is unknown, and nothing below it is checked. */
export type ShapeType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array' | 'any';

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
  /** The class that its schema defines, see leaf-class.ts, or null. */
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
