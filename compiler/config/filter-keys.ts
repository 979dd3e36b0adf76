/** The keys of a filter: operators of conditions, and groups. */
import type { FilterConfig, FilterLeaf } from '../../schemas/generated/types.ts';

export const OPERATORS: readonly FilterLeaf['operator'][] = [
  'exists',
  'missing',
  'equals',
  'not_equals',
  'contains',
  'in',
  'in_file',
  'regex',
];

const GROUPS = ['all', 'any', 'not'] as const;

export const operatorsOf = (config: FilterConfig): readonly FilterLeaf['operator'][] =>
  OPERATORS.filter((operator) => config[operator] !== undefined);

export const groupsOf = (config: FilterConfig): readonly (typeof GROUPS)[number][] =>
  GROUPS.filter((group) => config[group] !== undefined);
