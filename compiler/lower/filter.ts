/** Lowers a route's `filters` to a predicate tree with split paths and checked operands (§2.2). */

import type { FieldPlan, FilterConfig, FilterLeaf, FilterPlan } from '../../schemas/generated/types.ts';
import { lowerField, plainField } from '../config/field.ts';
import type { OperandKind } from '../config/filter-keys.ts';
import { groupsOf, OPERANDS, OPERATORS, operatorsOf } from '../config/filter-keys.ts';
import { holdsCredential } from '../diagnostics/printable.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import { flowText } from '../text/flow-text.ts';
import { lowerRegex } from './regex.ts';

function lowerLeaf(config: FilterConfig, path: NodePath, problems: Problem[]): FilterPlan | null {
  const field = lowerFieldName(config.field ?? '', [...path, 'field'], problems);
  const [operator, second] = operatorsOf(config);
  if (operator === undefined || second !== undefined) {
    problems.push(operatorProblem(config, path));
    return null;
  }
  const value = lowerOperand(config, operator, [...path, operator], problems);
  return field === null || value === null ? null : { kind: 'leaf', field, operator, value: value.of };
}

/** Null: what the schema has checked is the operand. */
const LOWER_OPERAND: Readonly<Record<OperandKind, ((text: string, path: NodePath) => Lowered<string>) | null>> = {
  value: null,
  file: (text, path) => lowerListFile(text, path),
  pattern: lowerRegex,
};

function lowerOperand(
  config: FilterConfig,
  operator: FilterLeaf['operator'],
  path: NodePath,
  problems: Problem[],
): { readonly of: FilterLeaf['value'] } | null {
  const lower = LOWER_OPERAND[OPERANDS[operator]];
  if (lower === null) return { of: config[operator] as FilterLeaf['value'] };
  const { plan, problems: found } = lower(String(config[operator]), path);
  problems.push(...found);
  return plan === null ? null : { of: plan };
}

function lowerList(list: readonly FilterConfig[], path: NodePath, problems: Problem[]): FilterPlan[] {
  return list.flatMap((member, index) => lowerOne(member, [...path, index], problems) ?? []);
}

function lowerOne(config: FilterConfig, path: NodePath, problems: Problem[]): FilterPlan | null {
  const shape = shapeProblem(config, path);
  if (shape !== null) {
    problems.push(shape);
    return null;
  }
  const [group] = groupsOf(config);
  if (group === undefined) return lowerLeaf(config, path, problems);
  const members = config[group];
  if (group === 'not') return { kind: 'not', filters: [lowerGroup(members ?? [], [...path, group], problems)] };
  return { kind: group, filters: lowerList(Array.isArray(members) ? members : [], [...path, group], problems) };
}

/** A list means `all` of its members. */
function lowerGroup(value: FilterConfig | FilterConfig[], path: NodePath, problems: Problem[]): FilterPlan {
  if (Array.isArray(value)) return { kind: 'all', filters: lowerList(value, path, problems) };
  return lowerOne(value, path, problems) ?? { kind: 'all', filters: [] };
}

/** Lowers `filters`: one filter, or a list of filters that must all match. Every problem is an error. */
export function lowerFilters(value: FilterConfig | FilterConfig[]): Lowered<FilterPlan> {
  const problems: Problem[] = [];
  const plan = lowerGroup(value, [], problems);
  return { plan: problems.length > 0 ? null : plan, problems };
}

function lowerFieldName(written: string, path: NodePath, problems: Problem[]): FieldPlan | null {
  const field = lowerField(written);
  if (typeof field !== 'string') return field;
  const plain = plainField(written);
  const at = { rule: 'filter-field', path, at: 'value' } as const;
  if (plain === null) problems.push({ ...at, message: field });
  else problems.push({ ...at, message: `${field}: \`${plain}\``, fix: { kind: 'rename', text: plain } });
  return null;
}

/** Returns an absolute path, `~/…`, or a normalised path relative to <home_dir>. */
function lowerListFile(written: string, path: NodePath): Lowered<string> {
  const file = written.replace(/^<home_dir>\/+/, '');
  const why = reasonAgainst(file);
  if (why === null) return { plan: file.replace(/^(?:\.\/+)+/, ''), problems: [] };
  const message = `${JSON.stringify(written)}${why}`;
  return { plan: null, problems: [{ rule: 'filter-file', path, at: 'value', message }] };
}

function reasonAgainst(file: string): string | null {
  if (file === '' || file.endsWith('/') || /[\0\n\r]/.test(file))
    return ' names no file; write a path relative to <home_dir>';
  if (file.startsWith('~') && !file.startsWith('~/'))
    return ': homes of other users are not expanded; write ~/… or an absolute path';
  return null;
}

function operatorProblem(config: FilterConfig, path: NodePath): Problem {
  const used = operatorsOf(config);
  const found = used.length === 0 ? 'none' : used.join(' and ');
  const message = `a filter on a field has exactly one operator, found ${found}`;
  const hint = used.length === 0 ? oneMissing(config) : split(config);
  return { rule: 'filter-operator', path, at: 'value', message, hint };
}

const oneMissing = ({ field = 'action' }: FilterConfig): string =>
  `write, for example, \`${flowText({ field, equals: 'opened' })}\`; the operators are ${OPERATORS.join(', ')}`;

function split(config: FilterConfig): string {
  const conditions = operatorsOf(config).map((operator) => ({ field: config.field, [operator]: config[operator] }));
  const all = flowText({ all: conditions });
  if (holdsCredential(all)) return 'split it into filters under `all` or `any`';
  return `write \`${all}\`, or \`any\` if one of them is enough`;
}

function shapeProblem(config: FilterConfig, path: NodePath): Problem | null {
  const at = { rule: 'filter-shape', path, at: 'value' } as const;
  const [group, second] = groupsOf(config);
  if (group === undefined) {
    const message = 'a filter is a `field` with one operator, or one of `all`, `any`, `not`';
    return config.field === undefined ? { ...at, message } : null;
  }
  if (second === undefined && config.field === undefined && operatorsOf(config).length === 0) return null;
  const hint = 'put each condition into its own member of one `all`';
  return { ...at, message: `\`${group}\` must be the only key of its filter`, hint };
}
