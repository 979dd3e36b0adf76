/** Links a template plan to a renderer, for prompts, addresses and coalesce keys. Values are never expanded again (§2.5). */

import type {
  DumpSegment,
  MetaSegment,
  PathSegment,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';
import type { CleanText } from './bounded-json.ts';
import { compactJson, indentedJson } from './bounded-json.ts';
import { linkPath, readPath } from './payload-path.ts';

/** Limits in code points (§8). */
const DUMP_LIMIT = 4000;
const NESTED_LIMIT = 2000;
/** Of an event in the list of a burst. */
const EVENT_LIMIT = 500;

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
  /** Where the list of a burst belongs, in UTF-16 units; absent: nowhere. */
  readonly eventsAt?: readonly number[];
}

export type RenderTemplate = (payload: unknown, builtins: Builtins) => Rendered;
export type RenderKey = (payload: unknown, builtins: Builtins) => string | null;
/** @param markerId the id in the markers of marked segments; no sender can know it before the event is accepted */
export type RenderPrompt = (payload: unknown, builtins: Builtins, markerId: string) => Rendered;

/** Marks values that outsiders may have written, in the prompts of routes with `untrusted: mark` (decisions §12). */
export interface Marks {
  /** The first paragraph of a marked prompt, which explains the marks. @param id the one in the markers */
  notice(id: string): string;
  /** Cleans a text and puts it between markers. */
  markText(text: string, id: string): string;
  /** The same for JSON. @param write returns the value's JSON, with the function applied to its strings */
  markJson(write: (clean: CleanText | null) => string, id: string): string;
}

/** For templates without marked values. */
const NO_MARKS: Marks = {
  notice: noMarks,
  markText: noMarks,
  markJson: noMarks,
};

function noMarks(): never {
  throw new Error('a marked template was linked without marks');
}

const ALL_RESOLVED: readonly string[] = [];

/** A segment's text, or undefined when it does not resolve. */
type Resolve = (payload: unknown, builtins: Builtins, markerId: string) => string | undefined;

interface Part {
  readonly resolve: Resolve;
  /** The text used when it does not resolve. */
  readonly literal: string;
  /** The place of the list of a burst. */
  readonly isList?: true;
}

/** Strings verbatim, scalars as in JSON, the rest as compact JSON. */
function valueText(value: unknown): string | undefined {
  if (typeof value === 'string' || value === undefined) return value;
  return compactJson(value, NESTED_LIMIT);
}

/** Marks only strings and their containers: a number, `true`, `false` or `null` cannot carry an instruction. */
function markedText(value: unknown, markerId: string, marks: Marks): string | undefined {
  if (typeof value === 'string') return marks.markText(value, markerId);
  if (typeof value !== 'object' || value === null) return valueText(value);
  return marks.markJson((clean) => compactJson(value, NESTED_LIMIT, clean), markerId);
}

function linkPlaceholder({ path: parts, builtin, marked }: PathSegment, marks: Marks): Resolve {
  const path = linkPath(parts);
  if (path === null) return () => undefined;
  if (marked) {
    return (payload, builtins, id) =>
      markedText(readPath(payload, path), id, marks) ??
      (builtin === null ? undefined : marks.markText(builtins[builtin], id));
  }
  if (builtin === null) return (payload) => valueText(readPath(payload, path));
  return (payload, builtins) => valueText(readPath(payload, path)) ?? builtins[builtin];
}

function linkDump({ marked, compact }: DumpSegment, marks: Marks): Resolve {
  const write = (payload: unknown, clean?: CleanText | null): string =>
    compact === true ? compactJson(payload, EVENT_LIMIT, clean) : indentedJson(payload, DUMP_LIMIT, clean);
  return marked
    ? (payload, _, id) => marks.markJson((clean) => write(payload, clean), id)
    : (payload) => write(payload);
}

const linkMeta = ({ name, marked }: MetaSegment, marks: Marks): Resolve =>
  marked ? (_, builtins, id) => marks.markText(builtins[name], id) : (_, builtins) => builtins[name];

function linkSegment(segment: TemplateSegment, marks: Marks): Part {
  switch (segment.kind) {
    case 'text':
      return { resolve: () => segment.text, literal: '' };
    case 'dump':
      return { resolve: linkDump(segment, marks), literal: '' };
    case 'meta':
      return { resolve: linkMeta(segment, marks), literal: '' };
    case 'events':
      return { resolve: () => '', literal: '', isList: true };
    case 'notice':
      return { resolve: (_, __, id) => marks.notice(id), literal: '' };
    case 'path':
      return { resolve: linkPlaceholder(segment, marks), literal: segment.text };
  }
}

/** Links the template of a prompt; the renderer allocates nothing but its result. @param marks null: it marks nothing */
export function linkPrompt(plan: TemplatePlan, marks: Marks | null): RenderPrompt {
  if (plan.every((segment) => segment.kind === 'text')) {
    const constant: Rendered = { text: plan.map((segment) => segment.text).join(''), unresolved: ALL_RESOLVED };
    return () => constant;
  }
  const parts = plan.map((segment) => linkSegment(segment, marks ?? NO_MARKS));
  return (payload, builtins, markerId) => {
    let text = '';
    let unresolved: string[] | null = null;
    let eventsAt: number[] | null = null;
    for (const part of parts) {
      if (part.isList === true) eventsAt = [...(eventsAt ?? []), text.length];
      const resolved = part.resolve(payload, builtins, markerId);
      if (resolved === undefined) {
        unresolved ??= [];
        unresolved.push(part.literal);
      }
      text += resolved ?? part.literal;
    }
    const rendered = { text, unresolved: unresolved ?? ALL_RESOLVED };
    return eventsAt === null ? rendered : { ...rendered, eventsAt };
  };
}

/** Links a template that marks nothing: an address or a key. */
export function linkTemplate(plan: TemplatePlan): RenderTemplate {
  const render = linkPrompt(plan, null);
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
