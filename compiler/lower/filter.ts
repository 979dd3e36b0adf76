/** Lowers a route's `filters` to a predicate tree with split paths and checked operands (§2.2). */

import { RE2JSSyntaxException } from 're2js';
import { hasExact, writeJson } from '../../base/exact-number.ts';
import { parsePath } from '../../base/paths.ts';
import type { FieldPlan, FilterConfig, FilterLeaf, FilterPlan } from '../../schemas/generated/types.ts';
import type { OperandKind } from '../config/grammar.ts';
import { groupsOf, isListGroup, lowerField, OPERANDS, OPERATORS, operatorsOf } from '../config/grammar.ts';
import type { WrittenText } from '../config/written-numbers.ts';
import { withWritten } from '../config/written-numbers.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { holdsCredential } from '../diagnostics/printable.ts';
import { isError } from '../diagnostics/rule.ts';
import { linearRegex } from '../globs/linear-glob.ts';
import { flowText } from '../text/plain-data.ts';

/** Checks that RE2 supports a regex (§2.2). */
function lowerRegex(source: string, path: NodePath): Lowered<string> {
  const at = { rule: 'regex-syntax', path, at: 'value' } as const;
  const plain = withoutSlashes(source);
  if (plain !== null) {
    const message = `a regex has no slashes around it: write \`${plain}\``;
    // `/pkg/i` may also be a path.
    const isSure = source.startsWith('/^') || /\$\/[a-z]*$/.test(source);
    const fix = { kind: 'replace', text: flowText(plain) } as const;
    return { plan: null, problems: [{ ...at, message, ...(isSure ? { fix } : {}) }] };
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
  const [, pattern = '', flags = ''] = /^\/(.+)\/([gimsu]*)$/.exec(source) ?? [];
  if (!pattern.startsWith('^') && !pattern.endsWith('$') && flags === '') return null;
  const known = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
  return `${known === '' ? '' : `(?${known})`}${pattern.replaceAll('\\/', '/')}`;
}

/** What lowering a filter needs at each depth. */
interface Lowering {
  readonly problems: Problem[];
  readonly written: WrittenText;
  /** Whether it tests an element of a list. */
  readonly inElement: boolean;
}

function lowerLeaf(config: FilterConfig, path: NodePath, lowering: Lowering): FilterPlan | null {
  const { problems } = lowering;
  const field = lowerFieldName(config.field ?? '', [...path, 'field'], lowering);
  const [operator, second] = operatorsOf(config);
  if (operator === undefined || second !== undefined) {
    problems.push(operatorProblem(config, path));
    return null;
  }
  const operand = lowerOperand(config, operator, [...path, operator], lowering);
  return field === null || operand === null ? null : { kind: 'leaf', field, operator, ...operand };
}

/** Null: the operand needs no lowering. */
const LOWER_OPERAND: Readonly<Record<OperandKind, ((text: string, path: NodePath) => Lowered<string>) | null>> = {
  value: null,
  text: null,
  file: (text, path) => lowerListFile(text, path),
  pattern: lowerRegex,
};

function lowerOperand(
  config: FilterConfig,
  operator: FilterLeaf['operator'],
  path: NodePath,
  { problems, written }: Lowering,
): Pick<FilterLeaf, 'value' | 'exact'> | null {
  const kind = OPERANDS[operator];
  const lower = LOWER_OPERAND[kind];
  const value = config[operator] as FilterLeaf['value'];
  if (lower === null) return kind === 'value' ? withExact(value, path, written) : { value };
  const { plan, problems: found } = lower(String(value), path);
  problems.push(...found);
  return plan === null ? null : { value: plan };
}

/** Adds the JSON of an operand with a number that JavaScript would round. */
function withExact(
  value: FilterLeaf['value'],
  path: NodePath,
  written: WrittenText,
): Pick<FilterLeaf, 'value' | 'exact'> {
  const whole = Number.isSafeInteger(value) ? value : withWritten(value, path, written);
  if (!hasExact(whole)) return { value };
  const exact = writeJson(whole);
  return { value: JSON.parse(exact) as FilterLeaf['value'], exact };
}

function lowerList(list: readonly FilterConfig[], path: NodePath, lowering: Lowering): FilterPlan[] {
  return list.flatMap((member, index) => lowerOne(member, [...path, index], lowering) ?? []);
}

function lowerOne(config: FilterConfig, path: NodePath, lowering: Lowering): FilterPlan | null {
  const shape = shapeProblem(config, path);
  if (shape !== null) {
    lowering.problems.push(shape);
    return null;
  }
  const [group] = groupsOf(config);
  if (group === undefined) return lowerLeaf(config, path, lowering);
  const at = [...path, group];
  if (isListGroup(group)) {
    const field = lowerFieldName(config[group] ?? '', at, lowering);
    const where = lowerGroup(config.where ?? [], [...path, 'where'], { ...lowering, inElement: true });
    return field === null ? null : { kind: group, field, where };
  }
  const members = config[group];
  if (group === 'not') return { kind: 'not', filters: [lowerGroup(members ?? [], at, lowering)] };
  return { kind: group, filters: lowerList(Array.isArray(members) ? members : [], at, lowering) };
}

/** A list means `all` of its members. */
function lowerGroup(value: FilterConfig | FilterConfig[], path: NodePath, lowering: Lowering): FilterPlan {
  if (Array.isArray(value)) return { kind: 'all', filters: lowerList(value, path, lowering) };
  return lowerOne(value, path, lowering) ?? { kind: 'all', filters: [] };
}

/**
 * Lowers `filters`: one filter, or a list of filters that must all match. Problems of other rules than `foreign-path` are
 * errors.
 */
export function lowerFilters(
  value: FilterConfig | FilterConfig[],
  written: WrittenText = () => null,
): Lowered<FilterPlan> {
  const problems: Problem[] = [];
  const plan = lowerGroup(value, [], { problems, written, inElement: false });
  return { plan: problems.some(isError) ? null : plan, problems };
}

function lowerFieldName(written: string, path: NodePath, { problems, inElement }: Lowering): FieldPlan | null {
  const field = lowerField(written, inElement);
  if (typeof field !== 'string') {
    problems.push(...askAboutField(written, path));
    return field;
  }
  problems.push({ rule: 'filter-field', path, at: 'value', message: field, ask: written });
  return null;
}

/** A path that is unusual may be a spelling of other tools, which a tutor knows. */
export const askAboutField = (field: string, path: NodePath): readonly Problem[] =>
  field === '.' ||
  (parsePath(field) !== null && !/^(?:header|req(?:uest)?|body|query|params|trigger|steps)[.[]|\.-\d/i.test(field))
    ? []
    : [{ rule: 'foreign-path', path, at: 'value', message: '', ask: field }];

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
    const message = 'a filter is a `field` with one operator, or one of `all`, `any`, `not`, `any_of`, `all_of`';
    if (config.field === undefined) return { ...at, message };
    if (config.where === undefined) return null;
    const hint = 'write `any_of:` or `all_of:` with the path of a list instead of `field`';
    return { ...at, message: '`where` tests the elements of a list', hint };
  }
  if (isListGroup(group) && config.where === undefined) {
    const message = `\`${group}\` needs \`where\`, the filter for an element`;
    const hint = `write, for example, \`${flowText({ [group]: config[group], where: { field: 'name', equals: 'urgent' } })}\``;
    return { ...at, message, hint };
  }
  const isAlone = second === undefined && config.field === undefined && operatorsOf(config).length === 0;
  if (isAlone && isListGroup(group) === (config.where !== undefined)) return null;
  const hint = 'put each condition into its own member of one `all`';
  const message = `\`${group}\` must be the only key of its filter${isListGroup(group) ? ' beside `where`' : ''}`;
  return { ...at, message, hint };
}
