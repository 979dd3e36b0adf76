/** Problems: what a check reports about one node of a file, before its path is resolved to a position. */
import type { SCHEMAS } from '../../schemas/built/schemas.ts';
import type { RuleId } from './rule.ts';

/** Keys and indexes from the file's root to the node. */
export type NodePath = readonly (string | number)[];

/**
 * A safe fix. `rename` replaces the name that `at` (and `within`) point at and keeps its quotes; `replace` inserts
 * the text verbatim; `quote` adds double quotes around the text. The others change the layout: `flow` writes a map or list
 * on one line (and another key after it), `nest` moves a key under new parent keys, `move` moves it into the map of a
 * sibling key, `indent` moves the keys that follow into this one, and `named-items` converts a list of maps with a `name`
 * to a map.
 */
export type Repair =
  | { readonly kind: 'rename' | 'replace'; readonly text: string }
  | { readonly kind: 'quote' }
  | { readonly kind: 'flow'; readonly text: string; readonly andKey?: string | undefined }
  | { readonly kind: 'nest'; readonly under: readonly [string, ...string[]] }
  | { readonly kind: 'move'; readonly into: string }
  | { readonly kind: 'indent'; readonly keys: readonly string[] }
  | { readonly kind: 'named-items' };

export interface Problem {
  readonly rule: RuleId;
  readonly path: NodePath;
  /** Whether the problem points at the node's key (unknown or missing keys) or at its value. */
  readonly at: 'key' | 'value';
  /** UTF-16 offset and length within a scalar's text, to point at a part of it. */
  readonly within?: { readonly offset: number; readonly length: number };
  /** States the problem and what would be correct. */
  readonly message: string;
  readonly hint?: string | undefined;
  /** The value (or the value of the key) may be a secret, so code frames mask it. */
  readonly sensitive?: boolean | undefined;
  /** Set only if the intention is unambiguous; `lint --fix` applies it. */
  readonly fix?: Repair | undefined;
  /** The node that the fix changes, if it is not the one at `path`. */
  readonly fixAt?: NodePath | undefined;
  /** Related positions, such as the other definition of a duplicate. */
  readonly related?: readonly RelatedProblem[];
  /** The schema error that it explains. */
  readonly cause?: SchemaCause;
}

/** An error as the generated validators report it. */
export interface SchemaError {
  /** JSON pointer into the data. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The key, if the error concerns a name and not a value. */
  readonly propertyName?: string;
}

export interface SchemaCause {
  readonly schema: keyof typeof SCHEMAS;
  /** The validated data: one object for all errors of one validation. */
  readonly data: unknown;
  readonly error: SchemaError;
  /** The message, before a stage adds to it. */
  readonly message: string;
}

/** Its range is the key, or the part of the value. */
type RelatedProblem = Pick<Problem, 'path' | 'within' | 'message'>;

/** A plan, or null if a problem of severity error prevents it. */
export interface Lowered<T> {
  readonly plan: T | null;
  readonly problems: readonly Problem[];
}
