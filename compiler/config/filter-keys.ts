/** The keys of a filter: operators of conditions, and groups. */
import type { FilterConfig, FilterLeaf } from '../../schemas/generated/types.ts';

type Operator = FilterLeaf['operator'];
type Group = 'all' | 'any' | 'not';

/** What an operator takes beyond what the schema checks: the path of a list, or a regular expression. */
export type OperandKind = 'value' | 'file' | 'pattern';

/** By operator, in the order of docs/routes.md. Operators of the schema and of the table are the same. */
export const OPERANDS = {
  exists: 'value',
  missing: 'value',
  equals: 'value',
  not_equals: 'value',
  contains: 'value',
  starts_with: 'value',
  in: 'value',
  in_file: 'file',
  regex: 'pattern',
} as const satisfies Record<Operator | Exclude<keyof FilterConfig, 'field' | Group>, OperandKind>;

export const OPERATORS: readonly Operator[] = Object.keys(OPERANDS) as (keyof typeof OPERANDS)[];

const GROUPS: readonly Group[] = ['all', 'any', 'not'];

export const operatorsOf = (config: FilterConfig): readonly Operator[] =>
  OPERATORS.filter((operator) => config[operator] !== undefined);

export const groupsOf = (config: FilterConfig): readonly Group[] =>
  GROUPS.filter((group) => config[group] !== undefined);
