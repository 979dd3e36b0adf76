/** A sender whose payloads are described by TypeScript types. */
import type { ShapeQuality } from '../../modules/payloads/compiler/shapes/shape.ts';

export interface TypedSource {
  /** Canonical name in the catalog. */
  readonly source: string;
  readonly packages: readonly string[];
  readonly quality: ShapeQuality;
  /** A module; files are named as seen from this folder. */
  readonly module: string;
  /** By exported type, a union or one payload: its event names, or where the literal that names the event stands. */
  readonly events: Readonly<Record<string, readonly string[] | { readonly at: string }>>;
  /** See `Shape.action`. */
  readonly action?: string;
  readonly adjust?: Adjustment;
}

/** Where a package's types differ from what is sent. */
export interface Adjustment {
  /** Properties that are not sent. */
  readonly drop?: readonly string[];
  /** Properties that may hold more than the types say. */
  readonly open?: readonly string[];
  /** Properties that hold what the types list and nothing else, although the types allow more. */
  readonly closed?: readonly string[];
  /** Texts whose list in the types is incomplete or outdated. */
  readonly unlisted?: readonly string[];
  /** `string | Object` is the string: an object only where the caller of an API asked for it. */
  readonly unexpanded?: boolean;
}
