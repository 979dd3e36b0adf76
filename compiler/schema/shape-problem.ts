/** Types and helpers for explanations of schema errors. */

import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { SchemaName } from './known-keys.ts';

/** The place of a schema error. */
export interface ShapePlace {
  readonly schema: SchemaName;
  /** The data of the whole file. */
  readonly data: unknown;
  readonly path: NodePath;
}

/** `missing`: the key that a `missing-key` problem reports. */
export interface ShapeProblem extends Problem {
  readonly missing?: string;
  /** The known key that was meant by an unknown one. */
  readonly instead?: string;
}

export const atValue = (place: ShapePlace, rule: RuleId, message: string): Problem => ({
  rule,
  path: place.path,
  at: 'value',
  message,
});

/** The last key of a path, with the index of a list item: `events[1]`. */
export function nameOf(path: NodePath): string {
  const last = path.findLastIndex((part) => typeof part === 'string');
  const indexes = path.slice(last + 1).map((index) => `[${index}]`);
  return `${String(path[last] ?? '')}${indexes.join('')}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'a map',
  null: 'nothing',
};

/** The JSON type of a value. */
export const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

export const typeName = (value: unknown): string => TYPE_NAMES[typeOf(value)] ?? typeof value;

/** "`events` must be a list". */
export const mustBe = (name: string, types: readonly string[]): string =>
  `\`${name}\` must be ${[...new Set(types.map((type) => TYPE_NAMES[type] ?? type))].join(' or ')}`;
