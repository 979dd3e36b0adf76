/** What the payloads of one sender can hold: a graph of nodes, with one root for each form of each event. */
import type { Review } from './field-review.ts';

/** JSON types a value may have. `any`: nothing is known of the value, and nothing below it is checked. */
export type ShapeType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array' | 'any';

export type ScalarValue = string | number | boolean;

/** Number of a node in its graph. Nodes refer to each other by number: types may contain themselves. */
export type NodeId = number;

export interface ShapeProperty {
  readonly node: NodeId;
  /** Not every payload has it. */
  readonly optional: boolean;
}

export interface ShapeNode {
  readonly types: ReadonlySet<ShapeType>;
  /** The only strings, numbers or booleans it may be; null: any of its types. */
  readonly values: readonly ScalarValue[] | null;
  /** Format of its strings (`uri`, `date-time`); null: not known. */
  readonly format: string | null;
  /** What its schema says it is, see leaf-class.ts; null: nothing. */
  readonly leafClass: string | null;
  /** The properties of an object, by name; empty for every other type. */
  readonly properties: ReadonlyMap<string, ShapeProperty>;
  /** What a property that is not listed holds; null: there is none, the object is closed. */
  readonly rest: NodeId | null;
  /** What the elements of an array hold; null for every other type. */
  readonly items: NodeId | null;
}

export interface ShapeGraph {
  /** @throws RangeError for a number that is no node's. */
  node(id: NodeId): ShapeNode;
}

/** One form of an event, for example one of its actions. */
export interface ShapeVariant {
  /** As the sender names it; `*` when the sender gives its events no name. */
  readonly event: string;
  readonly root: NodeId;
  /** The value of the action field when the form has exactly one. */
  readonly action: string | null;
}

/**
 * `exact`: types the sender or its SDK publishes for each event; `good`: complete, but inferred or not literal in places;
 * `partial`: some events, or some fields, are missing.
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
  /** Packages it was generated from; empty for a source of the user's own. */
  readonly from: readonly ShapeOrigin[];
  /** Path of the field that tells the forms of one event apart; null: there is none. */
  readonly action: readonly string[] | null;
  readonly graph: ShapeGraph;
  readonly variants: readonly ShapeVariant[];
  /** Who writes what. */
  readonly review: Review;
}

/** The event name of payloads whose sender gives them none. */
export const ANY_EVENT = '*';
