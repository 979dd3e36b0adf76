/** The grammars inside values: placeholders of templates (§2.5), fields and operators of filters (§2.2). */
import { PATH, parseField, parsePath, splitField } from '../../base/paths.ts';
import type {
  FieldPlan,
  FilterConfig,
  FilterLeaf,
  PathSegment,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';

/**
 * Matches placeholders, `{#each path}` and `{/each}`; anything else is literal text (§2.5). Within a block, `{.}` is the element,
 * `{@index}` its index, and a path after `@root` begins at the payload.
 */
const TOKEN = new RegExp(
  `\\{(?:(#each) +)?(?:(\\.)|(?:(@root)(?:\\.|(?=\\[)))?(${PATH}))\\}|\\{(@index|/each)\\}`,
  'g',
);

type BuiltinName = NonNullable<PathSegment['builtin']>;

export const BUILTINS: ReadonlySet<string> = new Set<BuiltinName>(['event_type', 'route', 'delivery_id']);

/** Lowers the path inside a placeholder. */
export function placeholder(path: string): TemplateSegment {
  if (path === '__raw__') return { kind: 'dump' };
  return {
    kind: 'path',
    // Header values are not part of the payload and never reach a prompt.
    path: /^headers[.[]/.test(path) ? [] : (parsePath(path) ?? []),
    text: `{${path}}`,
    builtin: BUILTINS.has(path) ? (path as BuiltinName) : null,
  };
}

/** A part of a template that is not literal text. */
export interface Token {
  /** Null: the end of a block. */
  readonly segment: TemplateSegment | null;
  /** UTF-16 offset and length, braces included. */
  readonly offset: number;
  readonly length: number;
  /** The number of blocks around it. */
  readonly depth: number;
}

/** Finds placeholders, and the starts and ends of blocks. */
export function readTokens(text: string): readonly Token[] {
  let depth = 0;
  return [...text.matchAll(TOKEN)].flatMap((match): Token | readonly Token[] => {
    const [written, each, item, root, , word] = match;
    const isOpening = each !== undefined;
    // Without a block, there is no element.
    if (depth === 0 && !isOpening && word !== '/each' && (root ?? item ?? word) !== undefined) return [];
    const token = { offset: match.index, length: written.length };
    if (word === '/each') return { ...token, segment: null, depth: depth === 0 ? 0 : depth-- };
    return { ...token, segment: lowerToken(match), depth: isOpening ? depth++ : depth };
  });
}

function lowerToken([text, each, item, root, path = '', word]: RegExpExecArray): TemplateSegment {
  if (word !== undefined) return { kind: 'index' };
  const from = root === undefined ? {} : { from: 'root' as const };
  if (each !== undefined) return { kind: 'each', path: parsePath(path) ?? [], text, ...from, plan: [] };
  if (item !== undefined) return { kind: 'path', path: [], text, builtin: null, from: 'element' };
  const segment = placeholder(path);
  return segment.kind === 'path' ? { ...segment, text, ...from } : segment;
}

/** A placeholder, or the list of a block, that is looked up only in the payload, and its position. */
export interface Placeholder {
  /** From the payload; `0` stands for the element of each block around it. */
  readonly path: readonly string[];
  /** How many parts of the path belong to the blocks around it, and are not written in the placeholder. */
  readonly within: number;
  readonly isList: boolean;
  /** UTF-16 offset and length, braces included. */
  readonly offset: number;
  readonly length: number;
}

/** Finds the placeholders of payload fields. */
export function readPlaceholders(text: string): readonly Placeholder[] {
  const elements: (readonly string[])[] = [];
  return readTokens(text).flatMap(({ segment, depth, offset, length }) => {
    if (segment?.kind !== 'path' && segment?.kind !== 'each') return [];
    const around = segment.from === 'root' || depth === 0 ? [] : (elements[depth - 1] ?? []);
    const path = [...around, ...segment.path];
    const isList = segment.kind === 'each';
    if (isList) elements[depth] = [...path, '0'];
    else if (segment.builtin !== null || (segment.path.length === 0 && segment.from !== 'element')) return [];
    return path.length === 0 ? [] : [{ path, within: around.length, isList, offset, length }];
  });
}

/** It has no value. Only a text for people or agents may contain it, as literal braces. */
export const EMPTY_PLACEHOLDER = /\{\s*\}/;

/** Splits a template into literal text, placeholders and blocks. */
export function segments(text: string): TemplatePlan {
  const whole: TemplatePlan = [];
  const open = [whole];
  let end = 0;
  const addText = (until: number): void => {
    if (until > end) open.at(-1)?.push({ kind: 'text', text: text.slice(end, until) });
  };
  for (const { segment, offset, length } of readTokens(text)) {
    addText(offset);
    end = offset + length;
    if (segment !== null) open.at(-1)?.push(segment);
    else if (open.length > 1) open.pop();
    if (segment?.kind === 'each') open.push(segment.plan);
  }
  addText(text.length);
  return whole;
}

/**
 * Returns the field's plan, or an error message. A quoted first part is always a key of the payload.
 *
 * @param inElement the field of an element, in `where`: a path and nothing else; `.` is the element itself
 */
export function lowerField(field: string, inElement = false): FieldPlan | string {
  if (inElement) {
    const path = field === '.' ? [] : lowerPath(field);
    return typeof path === 'string' ? path : { in: 'root', path };
  }
  if (field === 'event' || field === 'event_type') return { in: 'event', path: [] };
  // Dots in header names do not separate path segments.
  if (/^headers[.[]/.test(field)) {
    const name = (parseField(field) ?? []).slice(1).join('.').toLowerCase();
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return { in: 'header', path: [name] };
    return `${JSON.stringify(field)} is not a header; write headers.<Name>`;
  }
  const path = lowerPath(field);
  if (typeof path === 'string') return path;
  return /^payload[.[]/.test(field) ? { in: 'payload', path: path.slice(1) } : { in: 'root', path };
}

/** Returns the parts of a path, or an error message. What is not a path is split at its dots, and the compiler warns of it. */
export function lowerPath(field: string): string[] | string {
  if (/^\{.*\}$|^\$\./.test(field))
    return `${JSON.stringify(field)} is not a path; write the keys separated by single dots`;
  const path = splitField(field);
  return path.includes('') && parseField(field) === null
    ? `${JSON.stringify(field)} has an empty part; write the keys separated by single dots`
    : path;
}

type Operator = FilterLeaf['operator'];
type Group = 'all' | 'any' | 'not' | ListGroup;
type ListGroup = 'any_of' | 'all_of';

/** The kind of an operand: any JSON value, text, and what the schema does not check fully: the path of a list, a regular expression. */
export type OperandKind = 'value' | 'text' | 'file' | 'pattern';

/** By operator, in the order of docs/routes.md. Operators of the schema and of the table are the same. */
export const OPERANDS = {
  exists: 'value',
  missing: 'value',
  equals: 'value',
  not_equals: 'value',
  gt: 'value',
  gte: 'value',
  lt: 'value',
  lte: 'value',
  contains: 'value',
  starts_with: 'text',
  in: 'value',
  in_file: 'file',
  regex: 'pattern',
} as const satisfies Record<Operator | Exclude<keyof FilterConfig, 'field' | 'where' | Group>, OperandKind>;

export const OPERATORS: readonly Operator[] = Object.keys(OPERANDS) as (keyof typeof OPERANDS)[];

const GROUPS: readonly Group[] = ['all', 'any', 'not', 'any_of', 'all_of'];

export const isListGroup = (group: Group): group is ListGroup => group.endsWith('_of');

export const operatorsOf = (config: FilterConfig): readonly Operator[] =>
  OPERATORS.filter((operator) => config[operator] !== undefined);

export const groupsOf = (config: FilterConfig): readonly Group[] =>
  GROUPS.filter((group) => config[group] !== undefined);

/** A filter, and its path. */
export interface Condition {
  readonly config: FilterConfig;
  readonly path: NodePath;
}

/** All filters, also those in groups, but not those of elements. */
export function conditions(filters: FilterConfig | readonly FilterConfig[], path: NodePath): readonly Condition[] {
  if (isList(filters)) return filters.flatMap((filter, index) => conditions(filter, [...path, index]));
  const groups = (['all', 'any', 'not'] as const).flatMap((group) =>
    conditions(filters[group] ?? [], [...path, group]),
  );
  return [{ config: filters, path }, ...groups];
}

const isList = (filters: FilterConfig | readonly FilterConfig[]): filters is readonly FilterConfig[] =>
  Array.isArray(filters);
