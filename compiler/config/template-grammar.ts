/** The template grammar: a placeholder is a dotted path in braces; everything else is text (§2.5). */
import type { PathSegment, TemplatePlan, TemplateSegment } from '../../schemas/generated/types.ts';

export const PART = '[A-Za-z0-9_-]+';

export const PATH = `${PART}(?:\\.${PART})*`;

/** Matches placeholders; anything that does not match is literal text. */
export const PLACEHOLDER = new RegExp(`\\{(${PATH})\\}`, 'g');

export const BARE_PATH = new RegExp(`^${PATH}$`);

export type BuiltinName = NonNullable<PathSegment['builtin']>;

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
