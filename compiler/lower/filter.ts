/** Lowers a route's `filters` to a predicate tree with split paths and checked operands (§2.2). */

import { RE2JSSyntaxException } from 're2js';
import type { FieldPlan, FilterConfig, FilterLeaf, FilterPlan } from '../../schemas/generated/types.ts';
import type { OperandKind } from '../config/grammar.ts';
import { groupsOf, lowerField, OPERANDS, OPERATORS, operatorsOf, plainField } from '../config/grammar.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { holdsCredential } from '../diagnostics/printable.ts';
import { linearRegex } from '../globs/linear-glob.ts';
import { flowText } from '../text/plain-data.ts';

/** Checks that RE2 supports a regex (§2.2). */
function lowerRegex(source: string, path: NodePath): Lowered<string> {
  const at = { rule: 'regex-syntax', path, at: 'value' } as const;
  const plain = withoutSlashes(source);
  if (plain !== null) {
    const message = `a regex has no slashes around it: write \`${plain}\``;
    return { plan: null, problems: [{ ...at, message, fix: { kind: 'replace', text: flowText(plain) } }] };
  }
  const refused = refusal(source);
  return refused === null ? { plan: source, problems: [] } : { plan: null, problems: [{ ...at, ...refused }] };
}

/** Returns null if the regex is valid. */
function refusal(source: string): Pick<Problem, 'message' | 'within' | 'hint'> | null {
  try {
    linearRegex(source);
    return null;
  } catch (error) {
    const fragment = error instanceof RE2JSSyntaxException ? (error.getPattern() ?? '') : '';
    const reason = error instanceof RE2JSSyntaxException ? error.getDescription() : String(error);
    const offset = fragment === '' ? -1 : source.indexOf(fragment);
    const hint = regexHint(source) ?? regexHint(fragment);
    return {
      message: `the regex is not valid RE2: ${reason}${offset < 0 ? '' : `: ${fragment}`}`,
      ...(offset < 0 ? {} : { within: { offset, length: fragment.length } }),
      ...(hint === undefined ? {} : { hint }),
    };
  }
}

/** Explains why RE2 rejects syntax that other engines accept. */
function regexHint(text: string): string | undefined {
  if (/\(\?<?[=!]/.test(text))
    return 'lookaround is not supported, because matching it can take unlimited time; use two filters, one of them under `not`';
  const [, end] = /^\*([\w.-]+)$/.exec(text) ?? [];
  if (end !== undefined)
    return `a regex is not a glob: write \`regex: ${JSON.stringify(`${end.replaceAll('.', '[.]')}$`)}\``;
  if (/\\[1-9k]/.test(text)) return 'back-references are not supported, because matching them can take unlimited time';
  return undefined;
}

/** Removes the slashes of `/^main$/i`, which would be matched literally. Returns null if there are none or they may be meant. */
function withoutSlashes(source: string): string | null {
  const [, pattern = '', flags = ''] = /^\/(.+)\/([a-z]*)$/.exec(source) ?? [];
  if (!pattern.startsWith('^') && !pattern.endsWith('$') && flags === '') return null;
  const known = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
  return `${known === '' ? '' : `(?${known})`}${pattern.replaceAll('\\/', '/')}`;
}

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

/** Null: the operand needs no lowering. */
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
