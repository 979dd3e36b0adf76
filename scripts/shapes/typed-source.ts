/** Defines senders whose payloads are described by TypeScript types. */
import type { ShapeQuality } from '../../modules/payloads/compiler/shapes/shape.ts';

export interface TypedSource {
  /** Canonical name in the catalog. */
  readonly source: string;
  readonly packages: readonly string[];
  readonly quality: ShapeQuality;
  /** Text of a module; paths are relative to this folder. */
  readonly module: string;
  /** By exported type (a union or one payload): the event names, or the path of the literal that names the event. */
  readonly events: Readonly<Record<string, readonly string[] | { readonly at: string }>>;
  /** See `Shape.action`. */
  readonly action?: string;
  readonly adjust?: Adjustment;
}

/** Differences between a package's types and the payloads that are sent. */
export interface Adjustment {
  /** Properties that are not sent. */
  readonly drop?: readonly string[];
  /** Properties that may have more members than the types list. */
  readonly open?: readonly string[];
  /** Properties that have only the members in the types, although the types allow more. */
  readonly closed?: readonly string[];
  /** Texts whose list of values in the types is incomplete or outdated. */
  readonly unlisted?: readonly string[];
  /** `string | Object` is the string; it is an object only if the caller of an API requested it. */
  readonly unexpanded?: boolean;
}
