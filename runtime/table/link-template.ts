/** Links a template plan to a renderer, for prompts, addresses and coalesce keys: one pass, nothing from the payload is expanded again (§2.5). */
import type { TemplatePlan, TemplateSegment } from '../../schemas/generated/types.ts';
import { compactJson, indentedJson } from './bounded-json.ts';
import type { PayloadPath } from './payload-path.ts';
import { linkPath, readPath } from './payload-path.ts';

/** Limits in code points (§8). */
const DUMP_LIMIT = 4000;
const NESTED_LIMIT = 2000;

/** What a template can say about its event beside the payload. */
export interface Builtins {
  readonly event_type: string;
  readonly route: string;
  readonly delivery_id: string;
}

export interface Rendered {
  readonly text: string;
  /** Placeholders that did not resolve and stand in the text as written. */
  readonly unresolved: readonly string[];
}

export type RenderTemplate = (payload: unknown, builtins: Builtins) => Rendered;
export type RenderKey = (payload: unknown, builtins: Builtins) => string | null;

const ALL_RESOLVED: readonly string[] = [];

/** A segment's text, or undefined when it does not resolve. */
type Resolve = (payload: unknown, builtins: Builtins) => string | undefined;

interface Part {
  readonly resolve: Resolve;
  /** What stands in the text when it does not resolve. */
  readonly literal: string;
}

/** Strings verbatim, scalars as in JSON, the rest as compact JSON. */
function valueText(value: unknown): string | undefined {
  if (typeof value === 'string' || value === undefined) return value;
  return compactJson(value, NESTED_LIMIT);
}

function linkPlaceholder(path: PayloadPath | null, builtin: keyof Builtins | null): Resolve {
  if (path === null) return () => undefined;
  if (builtin === null) return (payload) => valueText(readPath(payload, path));
  return (payload, builtins) => valueText(readPath(payload, path)) ?? builtins[builtin];
}

function linkSegment(segment: TemplateSegment): Part {
  switch (segment.kind) {
    case 'text':
      return { resolve: () => segment.text, literal: '' };
    case 'dump':
      return { resolve: (payload) => indentedJson(payload, DUMP_LIMIT), literal: '' };
    case 'meta':
      return { resolve: (_, builtins) => builtins[segment.name], literal: '' };
    case 'path':
      return { resolve: linkPlaceholder(linkPath(segment.path), segment.builtin), literal: segment.text };
  }
}

/** Links a template; the renderer allocates nothing but its result. */
export function linkTemplate(plan: TemplatePlan): RenderTemplate {
  if (plan.every((segment) => segment.kind === 'text')) {
    const constant: Rendered = { text: plan.map((segment) => segment.text).join(''), unresolved: ALL_RESOLVED };
    return () => constant;
  }
  const parts = plan.map(linkSegment);
  return (payload, builtins) => {
    let text = '';
    let unresolved: string[] | null = null;
    for (const part of parts) {
      const resolved = part.resolve(payload, builtins);
      if (resolved === undefined) {
        unresolved ??= [];
        unresolved.push(part.literal);
      }
      text += resolved ?? part.literal;
    }
    return { text, unresolved: unresolved ?? ALL_RESOLVED };
  };
}

/** Links a coalesce key: null as soon as one part does not resolve, for then the event has no entity (§3.2). */
export function linkKey(plan: TemplatePlan): RenderKey {
  const render = linkTemplate(plan);
  return (payload, builtins) => {
    const { text, unresolved } = render(payload, builtins);
    return unresolved.length > 0 ? null : text;
  };
}
