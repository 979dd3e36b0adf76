/** Links a template plan to a renderer, for prompts, addresses and coalesce keys. Values are never expanded again (§2.5). */

import { markJson, markText, notice } from '../../modules/payloads/runtime/untrusted/markers.ts';
import type {
  DumpSegment,
  MetaSegment,
  PathSegment,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';
import { compactJson, indentedJson } from './bounded-json.ts';
import { linkPath, readPath } from './payload-path.ts';

/** Limits in code points (§8). */
const DUMP_LIMIT = 4000;
const NESTED_LIMIT = 2000;

/** Values that a template can use besides the payload. */
export interface Builtins {
  readonly event_type: string;
  readonly route: string;
  readonly delivery_id: string;
}

export interface Rendered {
  readonly text: string;
  /** Placeholders that did not resolve; they are in the text as written. */
  readonly unresolved: readonly string[];
}

export type RenderTemplate = (payload: unknown, builtins: Builtins) => Rendered;
export type RenderKey = (payload: unknown, builtins: Builtins) => string | null;
/** @param markerId the id in the markers of marked segments; no sender can know it before the event is accepted */
export type RenderPrompt = (payload: unknown, builtins: Builtins, markerId: string) => Rendered;

const ALL_RESOLVED: readonly string[] = [];

/** A segment's text, or undefined when it does not resolve. */
type Resolve = (payload: unknown, builtins: Builtins, markerId: string) => string | undefined;

interface Part {
  readonly resolve: Resolve;
  /** The text used when it does not resolve. */
  readonly literal: string;
}

/** Strings verbatim, scalars as in JSON, the rest as compact JSON. */
function valueText(value: unknown): string | undefined {
  if (typeof value === 'string' || value === undefined) return value;
  return compactJson(value, NESTED_LIMIT);
}

/** Marks only strings and their containers: a number, `true`, `false` or `null` cannot carry an instruction. */
function markedText(value: unknown, markerId: string): string | undefined {
  if (typeof value === 'string') return markText(value, markerId);
  if (typeof value !== 'object' || value === null) return valueText(value);
  return markJson((clean) => compactJson(value, NESTED_LIMIT, clean), markerId);
}

function linkPlaceholder({ path: parts, builtin, marked }: PathSegment): Resolve {
  const path = linkPath(parts);
  if (path === null) return () => undefined;
  if (marked) {
    return (payload, builtins, id) =>
      markedText(readPath(payload, path), id) ?? (builtin === null ? undefined : markText(builtins[builtin], id));
  }
  if (builtin === null) return (payload) => valueText(readPath(payload, path));
  return (payload, builtins) => valueText(readPath(payload, path)) ?? builtins[builtin];
}

const linkDump = ({ marked }: DumpSegment): Resolve =>
  marked
    ? (payload, _, id) => markJson((clean) => indentedJson(payload, DUMP_LIMIT, clean), id)
    : (payload) => indentedJson(payload, DUMP_LIMIT);

const linkMeta = ({ name, marked }: MetaSegment): Resolve =>
  marked ? (_, builtins, id) => markText(builtins[name], id) : (_, builtins) => builtins[name];

function linkSegment(segment: TemplateSegment): Part {
  switch (segment.kind) {
    case 'text':
      return { resolve: () => segment.text, literal: '' };
    case 'dump':
      return { resolve: linkDump(segment), literal: '' };
    case 'meta':
      return { resolve: linkMeta(segment), literal: '' };
    case 'notice':
      return { resolve: (_, __, id) => notice(id), literal: '' };
    case 'path':
      return { resolve: linkPlaceholder(segment), literal: segment.text };
  }
}

/** Links the template of a prompt; the renderer allocates nothing but its result. */
export function linkPrompt(plan: TemplatePlan): RenderPrompt {
  if (plan.every((segment) => segment.kind === 'text')) {
    const constant: Rendered = { text: plan.map((segment) => segment.text).join(''), unresolved: ALL_RESOLVED };
    return () => constant;
  }
  const parts = plan.map(linkSegment);
  return (payload, builtins, markerId) => {
    let text = '';
    let unresolved: string[] | null = null;
    for (const part of parts) {
      const resolved = part.resolve(payload, builtins, markerId);
      if (resolved === undefined) {
        unresolved ??= [];
        unresolved.push(part.literal);
      }
      text += resolved ?? part.literal;
    }
    return { text, unresolved: unresolved ?? ALL_RESOLVED };
  };
}

/** Links a template that marks nothing: an address or a key. */
export function linkTemplate(plan: TemplatePlan): RenderTemplate {
  const render = linkPrompt(plan);
  return (payload, builtins) => render(payload, builtins, '');
}

/** Links a coalesce key; it renders to null when a placeholder does not resolve, because then the event has no entity (§3.2). */
export function linkKey(plan: TemplatePlan): RenderKey {
  const render = linkTemplate(plan);
  return (payload, builtins) => {
    const { text, unresolved } = render(payload, builtins);
    return unresolved.length > 0 ? null : text;
  };
}
