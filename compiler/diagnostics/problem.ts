/** What a check says about one place of a file, before the place becomes a line and a column. */
import type { Rule } from './rule.ts';

/** Keys and indexes from the file's root to the node at fault. */
export type NodePath = readonly (string | number)[];

/**
 * A repair that is certain. `rename` puts another name in the place of what `at` (and `within`) point at and keeps its
 * quotes; `replace` puts a text there as it is to stand in the file; `quote` puts double quotes around what is written.
 * The others change the layout: `flow` writes a map or list on one line (and another key behind it), `items` writes a map as a list of these items, `nest` moves a key below others, `move` into the map of a key beside it,
 * `indent` moves the keys that follow this one below it, `named-items` turns a list of maps with a `name` into a map.
 */
export type Repair =
  | { readonly kind: 'rename' | 'replace'; readonly text: string }
  | { readonly kind: 'quote' }
  | { readonly kind: 'flow'; readonly text: string; readonly andKey?: string }
  | { readonly kind: 'items'; readonly items: readonly string[] }
  | { readonly kind: 'nest'; readonly under: readonly [string, ...string[]] }
  | { readonly kind: 'move'; readonly into: string }
  | { readonly kind: 'indent'; readonly keys: readonly string[] }
  | { readonly kind: 'named-items' };

export interface Problem {
  readonly rule: Rule;
  readonly path: NodePath;
  /** `key`: points at the key of the node (unknown or missing keys), `value`: at its value. */
  readonly at: 'key' | 'value';
  /** UTF-16 offset and length inside a scalar's text, to point at a part of it. */
  readonly within?: { readonly offset: number; readonly length: number };
  /** What is wrong and what would be right. */
  readonly message: string;
  readonly hint?: string;
  /** The value (of the key that is pointed at) may be a secret: a code frame does not repeat it. */
  readonly sensitive?: boolean;
  /** Only where nothing else can be meant: `lint --fix` applies it. */
  readonly fix?: Repair;
  /** The node whose value the repair changes, where it is not the one that is pointed at. */
  readonly fixAt?: NodePath;
  /** Paths of which it explains every error, at them and below: nothing there can be relied on. */
  readonly covers?: readonly NodePath[];
  /** Further places that belong to it (the other definition of a duplicate). */
  readonly related?: readonly { readonly path: NodePath; readonly message: string }[];
}

/** A plan, or null when a problem of severity error stands in its way. */
export interface Lowered<T> {
  readonly plan: T | null;
  readonly problems: readonly Problem[];
}
