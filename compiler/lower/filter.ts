/** Lowers a route's `filters` to a predicate tree with split paths and checked operands (§2.2). */

import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { FilterConfig, FilterLeaf, FilterPlan } from '../../schemas/generated/types.ts';
import { lowerField, plainField } from '../config/field.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import type { Rule } from '../diagnostics/rule.ts';
import { filterField } from '../rules/filter-field.ts';
import { filterFile } from '../rules/filter-file.ts';
import { filterOperator } from '../rules/filter-operator.ts';
import { filterShape } from '../rules/filter-shape.ts';
import { regexSyntax } from '../rules/regex-syntax.ts';
import { flowText } from '../text/flow-text.ts';

type Operator = FilterLeaf['operator'];
const OPERATORS: readonly Operator[] = [
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

/** Collects the problems of one lowering. */
class Report {
  readonly problems: Problem[] = [];
  add(rule: Rule, path: NodePath, message: string, more: Pick<Problem, 'within' | 'hint' | 'fix'> = {}): null {
    this.problems.push({ rule, path, at: 'value', message, ...more });
    return null;
  }
}

/** Why the linear-time engine refuses what other engines take. */
function regexHint(text: string): string | undefined {
  if (/\(\?<?[=!]/.test(text)) return 'lookaround is not linear-time; use two filters, one of them under `not`';
  if (/\\[1-9k]/.test(text)) return 'back-references are not linear-time; payloads are hostile';
  return undefined;
}

/** `/^main$/i`, as in JavaScript: the slashes would have to be found. null: it has none, or they may be meant. */
function withoutSlashes(source: string): string | null {
  const [, pattern = '', flags = ''] = /^\/(.+)\/([a-z]*)$/.exec(source) ?? [];
  if (!pattern.startsWith('^') && !pattern.endsWith('$') && flags === '') return null;
  const known = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
  return `${known === '' ? '' : `(?${known})`}${pattern.replaceAll('\\/', '/')}`;
}

function checkRegex(source: string, path: NodePath, report: Report): string | null {
  const plain = withoutSlashes(source);
  if (plain !== null)
    return report.add(regexSyntax, path, `a regex has no slashes around it: write \`${plain}\``, {
      fix: { kind: 'replace', text: flowText(plain) },
    });
  try {
    RE2JS.compile(source);
    return source;
  } catch (error) {
    const fragment = error instanceof RE2JSSyntaxException ? (error.getPattern() ?? '') : '';
    const reason = error instanceof RE2JSSyntaxException ? error.getDescription() : String(error);
    const offset = fragment === '' ? -1 : source.indexOf(fragment);
    const hint = regexHint(fragment) ?? regexHint(source);
    return report.add(regexSyntax, path, `the regex is not valid RE2: ${reason}${offset < 0 ? '' : `: ${fragment}`}`, {
      ...(offset < 0 ? {} : { within: { offset, length: fragment.length } }),
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

/** A path relative to <home_dir> in its shortest form, `~/…`, or an absolute one. */
function checkFile(text: string, path: NodePath, report: Report): string | null {
  const file = text.replace(/^<home_dir>\/+/, '');
  if (file === '' || file.endsWith('/') || /[\0\n\r]/.test(file)) {
    return report.add(filterFile, path, `${JSON.stringify(text)} names no file; write a path relative to <home_dir>`);
  }
  if (file.startsWith('~') && !file.startsWith('~/')) {
    const message = `${JSON.stringify(text)}: homes of other users are not expanded; write ~/… or an absolute path`;
    return report.add(filterFile, path, message);
  }
  return file.replace(/^(?:\.\/+)+/, '');
}

function lowerLeaf(config: FilterConfig, path: NodePath, report: Report): FilterPlan | null {
  const used = OPERATORS.filter((operator) => config[operator] !== undefined);
  if (config.field === undefined) {
    return report.add(filterShape, path, 'a filter is a `field` with one operator, or one of `all`, `any`, `not`');
  }
  const field = lowerField(config.field);
  if (typeof field === 'string') {
    const plain = plainField(config.field);
    const fix: Pick<Problem, 'fix'> = plain === null ? {} : { fix: { kind: 'rename', text: plain } };
    report.add(filterField, [...path, 'field'], plain === null ? field : `${field}: \`${plain}\``, fix);
  }
  const [operator, second] = used;
  if (operator === undefined || second !== undefined) {
    const found = operator === undefined ? 'none' : used.join(' and ');
    const hint = second === undefined ? `one of ${OPERATORS.join(', ')}` : 'split it into filters under `all` or `any`';
    return report.add(filterOperator, path, `a filter on a field takes exactly one operator, found ${found}`, {
      hint,
    });
  }
  let value = config[operator] as FilterLeaf['value'] | null;
  if (operator === 'regex') value = checkRegex(String(value), [...path, operator], report);
  if (operator === 'in_file') value = checkFile(String(value), [...path, operator], report);
  if (typeof field === 'string' || (value === null && (operator === 'regex' || operator === 'in_file'))) return null;
  return { kind: 'leaf', field, operator, value };
}

function lowerList(list: readonly FilterConfig[], path: NodePath, report: Report): FilterPlan[] {
  return list.flatMap((member, index) => lowerOne(member, [...path, index], report) ?? []);
}

function lowerOne(config: FilterConfig, path: NodePath, report: Report): FilterPlan | null {
  const groups = GROUPS.filter((group) => config[group] !== undefined);
  const [group] = groups;
  if (group === undefined) return lowerLeaf(config, path, report);
  if (groups.length > 1 || config.field !== undefined || OPERATORS.some((operator) => config[operator] !== undefined)) {
    return report.add(filterShape, path, `\`${group}\` stands alone in its filter`, {
      hint: 'put each condition into a member of its own under one `all`',
    });
  }
  const members = config[group];
  if (group === 'not') return { kind: 'not', filters: [lowerGroup(members ?? [], [...path, group], report)] };
  return { kind: group, filters: lowerList(Array.isArray(members) ? members : [], [...path, group], report) };
}

/** A list stands for `all` of its members. */
function lowerGroup(value: FilterConfig | FilterConfig[], path: NodePath, report: Report): FilterPlan {
  if (Array.isArray(value)) return { kind: 'all', filters: lowerList(value, path, report) };
  return lowerOne(value, path, report) ?? { kind: 'all', filters: [] };
}

/**
 * Lowers the value of `filters`, which may be one filter or a list of which all must match.
 * Problems, all errors: `filter-shape`, `filter-operator`, `filter-field`, `filter-file`, `regex-syntax`.
 */
export function lowerFilters(value: FilterConfig | FilterConfig[]): Lowered<FilterPlan> {
  const report = new Report();
  const plan = lowerGroup(value, [], report);
  return { plan: report.problems.length > 0 ? null : plan, problems: report.problems };
}
