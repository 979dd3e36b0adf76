/** Lowers a route's `filters` to a predicate tree with split paths and checked operands (§2.2). */

import type { FilterConfig, FilterLeaf, FilterPlan } from '../../schemas/generated/types.ts';
import type { OperandKind } from '../config/filter-keys.ts';
import { groupsOf, OPERANDS, operatorsOf } from '../config/filter-keys.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import { filterField } from '../rules/filter-field.ts';
import { filterFile } from '../rules/filter-file.ts';
import { filterOperator } from '../rules/filter-operator.ts';
import { filterShape } from '../rules/filter-shape.ts';
import { regexSyntax } from '../rules/regex-syntax.ts';

/** Collects the problems of one lowering. */
class Problems {
  readonly list: Problem[] = [];

  /** Returns the plan, and adds the problems. */
  take<T>({ plan, problems }: Lowered<T>): T | null {
    this.list.push(...problems);
    return plan;
  }

  /** Returns whether there are any. */
  add(problems: readonly Problem[]): boolean {
    this.list.push(...problems);
    return problems.length > 0;
  }
}

function lowerLeaf(config: FilterConfig, path: NodePath, problems: Problems): FilterPlan | null {
  const field = problems.take(filterField.check(config.field ?? '', [...path, 'field']));
  const [operator] = operatorsOf(config);
  if (problems.add(filterOperator.check(config, path)) || operator === undefined) return null;
  const value = lowerOperand(config, operator, [...path, operator], problems);
  return field === null || value === null ? null : { kind: 'leaf', field, operator, value: value.of };
}

const OPERAND_RULES = {
  value: null,
  file: filterFile,
  pattern: regexSyntax,
} as const satisfies Record<OperandKind, unknown>;

function lowerOperand(
  config: FilterConfig,
  operator: FilterLeaf['operator'],
  path: NodePath,
  problems: Problems,
): { readonly of: FilterLeaf['value'] } | null {
  const rule = OPERAND_RULES[OPERANDS[operator]];
  if (rule === null) return { of: config[operator] as FilterLeaf['value'] };
  const text = problems.take(rule.check(String(config[operator]), path));
  return text === null ? null : { of: text };
}

function lowerList(list: readonly FilterConfig[], path: NodePath, problems: Problems): FilterPlan[] {
  return list.flatMap((member, index) => lowerOne(member, [...path, index], problems) ?? []);
}

function lowerOne(config: FilterConfig, path: NodePath, problems: Problems): FilterPlan | null {
  if (problems.add(filterShape.check(config, path))) return null;
  const [group] = groupsOf(config);
  if (group === undefined) return lowerLeaf(config, path, problems);
  const members = config[group];
  if (group === 'not') return { kind: 'not', filters: [lowerGroup(members ?? [], [...path, group], problems)] };
  return { kind: group, filters: lowerList(Array.isArray(members) ? members : [], [...path, group], problems) };
}

/** A list means `all` of its members. */
function lowerGroup(value: FilterConfig | FilterConfig[], path: NodePath, problems: Problems): FilterPlan {
  if (Array.isArray(value)) return { kind: 'all', filters: lowerList(value, path, problems) };
  return lowerOne(value, path, problems) ?? { kind: 'all', filters: [] };
}

/** Lowers `filters`: one filter, or a list of filters that must all match. Every problem is an error. */
export function lowerFilters(value: FilterConfig | FilterConfig[]): Lowered<FilterPlan> {
  const problems = new Problems();
  const plan = lowerGroup(value, [], problems);
  return { plan: problems.list.length > 0 ? null : plan, problems: problems.list };
}
