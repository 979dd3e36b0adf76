/** The grammars inside values: placeholders of templates (§2.5), fields and operators of filters (§2.2). */
import type {
  FieldPlan,
  FilterConfig,
  FilterLeaf,
  PathSegment,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';

/** The template grammar: a placeholder is a dotted path in braces; everything else is text (§2.5). */
export const PART = '[A-Za-z0-9_-]+';

export const PATH = `${PART}(?:\\.${PART})*`;

/** Matches placeholders; anything that does not match is literal text. */
const PLACEHOLDER = new RegExp(`\\{(${PATH})\\}`, 'g');

export const BARE_PATH = new RegExp(`^${PATH}$`);

type BuiltinName = NonNullable<PathSegment['builtin']>;

export const BUILTINS: ReadonlySet<string> = new Set<BuiltinName>(['event_type', 'route', 'delivery_id']);

/** Parses the path inside a placeholder. */
export function placeholder(path: string): TemplateSegment {
  if (path === '__raw__') return { kind: 'dump' };
  const parts = path.split('.');
  return {
    kind: 'path',
    // Header values are not part of the payload and never reach a prompt.
    path: parts[0] === 'headers' && parts.length > 1 ? [] : parts,
    text: `{${path}}`,
    builtin: BUILTINS.has(path) ? (path as BuiltinName) : null,
  };
}

/** A placeholder that is looked up only in the payload, and its position. */
export interface Placeholder {
  readonly path: readonly string[];
  /** UTF-16 offset and length, braces included. */
  readonly offset: number;
  readonly length: number;
}

/** Finds the placeholders of payload fields. */
export function readPlaceholders(text: string): readonly Placeholder[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap(({ 0: braced, 1: inner = '', index }) => {
    const segment = placeholder(inner);
    if (segment.kind !== 'path' || segment.builtin !== null || segment.path.length === 0) return [];
    return [{ path: segment.path, offset: index, length: braced.length }];
  });
}

/** Splits a template into literal text and placeholders. */
export function segments(text: string): TemplatePlan {
  const plan: TemplatePlan = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (match.index > end) plan.push({ kind: 'text', text: text.slice(end, match.index) });
    plan.push(placeholder(match[1] ?? ''));
    end = match.index + match[0].length;
  }
  if (end < text.length) plan.push({ kind: 'text', text: text.slice(end) });
  return plan;
}

/** Converts a field in template, JSONPath or jq syntax to a dotted path; null if it is none of these. */
export function plainField(field: string): string | null {
  const inner = field.replace(/^\{+\s*|\s*\}+$/g, '').replace(/^\$?\.(?=[^.])/, '');
  const plain = inner.replace(/\[(\d+)\]/g, '.$1').replace(/\[(["'])([\w-]+)\1\]/g, '.$2');
  return inner !== field && typeof lowerField(plain) !== 'string' ? plain : null;
}

/** Returns the field's plan, or an error message. */
export function lowerField(field: string): FieldPlan | string {
  if (field === 'event' || field === 'event_type') return { in: 'event', path: [] };
  // Dots in header names do not separate path segments.
  if (field.startsWith('headers.')) {
    const name = field.slice('headers.'.length).toLowerCase();
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return { in: 'header', path: [name] };
    return `${JSON.stringify(field)} is not a header; write headers.<Name>`;
  }
  if (/^\{.*\}$|^\$\./.test(field))
    return `${JSON.stringify(field)} is not a path; write the keys separated by single dots`;
  const path = field.split('.');
  if (path.includes('')) return `${JSON.stringify(field)} has an empty part; write the keys separated by single dots`;
  return path.length > 1 && path[0] === 'payload' ? { in: 'payload', path: path.slice(1) } : { in: 'root', path };
}

type Operator = FilterLeaf['operator'];
type Group = 'all' | 'any' | 'not';

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
} as const satisfies Record<Operator | Exclude<keyof FilterConfig, 'field' | Group>, OperandKind>;

export const OPERATORS: readonly Operator[] = Object.keys(OPERANDS) as (keyof typeof OPERANDS)[];

const GROUPS: readonly Group[] = ['all', 'any', 'not'];

export const operatorsOf = (config: FilterConfig): readonly Operator[] =>
  OPERATORS.filter((operator) => config[operator] !== undefined);

export const groupsOf = (config: FilterConfig): readonly Group[] =>
  GROUPS.filter((group) => config[group] !== undefined);
