/** Reads one condition of a route's filters as written. Other rules report malformed conditions. */

import { lowerField } from '../../../../compiler/config/field.ts';
import { operatorsOf } from '../../../../compiler/config/filter-keys.ts';
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { FilterConfig, FilterLeaf } from '../../../../schemas/generated/types.ts';
import type { Leaf } from './match-leaf.ts';

/** A condition, and its path relative to `filters`. */
export interface WrittenLeaf extends Leaf {
  readonly text: string;
  readonly path: NodePath;
}

/** Returns null if it is not a valid condition. */
export function readLeaf(config: FilterConfig, path: NodePath): WrittenLeaf | null {
  const [operator, second] = operatorsOf(config);
  if (config.field === undefined || operator === undefined || second !== undefined) return null;
  const field = lowerField(config.field);
  if (typeof field === 'string') return null;
  return { field, operator, value: config[operator] as FilterLeaf['value'], text: config.field, path };
}

/** The members of `all`, `any` or `not`, each with its path. */
export function membersOf(value: FilterConfig | readonly FilterConfig[], path: NodePath): readonly Member[] {
  if (!Array.isArray(value)) return [{ config: value as FilterConfig, path }];
  return value.map((config, index) => ({ config, path: [...path, index] }));
}

export interface Member {
  readonly config: FilterConfig;
  readonly path: NodePath;
}
