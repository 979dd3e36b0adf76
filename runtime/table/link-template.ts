/** Links a template plan to a renderer, for prompts and addresses (keys: link-key.ts). Values are never expanded again (§2.5). */
import { ExactNumber, writeJson } from '../../base/exact-number.ts';
import { isJson, isJsonType } from '../../base/text.ts';
import type {
  DumpSegment,
  EachSegment,
  FilterPlan,
  MetaSegment,
  PathSegment,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';
import { plainPayload, valueAtPath } from '../verify/items.ts';
import { printField } from './link-filter.ts';

/** Limits in code points (§8). */
const DUMP_LIMIT = 4000;
const NESTED_LIMIT = 2000;
/** Limit of an event in the list of a burst. */
const EVENT_LIMIT = 500;
/** Limits of a block with the blocks in it: its text, and its elements, which may render nothing. */
const BLOCK_LIMIT = 2000;
const ELEMENT_LIMIT = 10_000;

/** Values that a template can use besides the payload. */
export interface Builtins {
  readonly event_type: string;
  readonly route: string;
  readonly delivery_id: string;
  /** Only in responses. */
  readonly status_url?: string;
}

export interface Rendered {
  readonly text: string;
  /** Placeholders that did not resolve; they stay in the text as written. */
  readonly unresolved: readonly string[];
  /** Offsets of the list of a burst, in UTF-16 units; absent: none. */
  readonly eventsAt?: readonly number[];
}

export type RenderTemplate = (payload: unknown, builtins: Builtins) => Rendered;
/** @param markerId the id in the markers of marked segments; no sender can know it before the event is accepted */
export type RenderPrompt = (payload: unknown, builtins: Builtins, markerId: string) => Rendered;

/** Marks values that outsiders may have written, in the prompts of routes with `untrusted: mark` (decisions §12). */
export interface Marks {
  /** The first paragraph of a marked prompt, which explains the marks. @param id the one in the markers */
  notice(id: string): string;
  /** Cleans a text and encloses it in markers. */
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

/** What the blocks around a segment share: one for each outermost block. */
interface Block {
  /** The whole payload. */
  readonly root: unknown;
  /** The index of the innermost element. */
  index: number;
  /** The code points, and the elements, that may still be rendered. */
  left: number;
  elements: number;
  readonly unresolved: Set<string>;
}

/**
 * A segment's text; undefined if it does not resolve.
 *
 * @param payload within a block, its element
 */
type Resolve = (payload: unknown, builtins: Builtins, markerId: string, block?: Block) => string | undefined;

interface LinkedSegment {
  readonly resolve: Resolve;
  /** True for a value between marks, which is cut before it is marked. */
  readonly isMarked?: boolean;
  /** True for a block, which counts and reports its own parts. */
  readonly isBlock?: true;
  /** The text used if it does not resolve. */
  readonly literal: string;
  /** True for the list of a burst. */
  readonly isList?: true;
}

/** Strings verbatim, numbers as they were sent, other scalars as in JSON, other values as compact JSON. */
function valueText(value: unknown): string | undefined {
  if (typeof value === 'string' || value === undefined) return value;
  if (value instanceof ExactNumber) return String(value);
  return startOfJson(value, NESTED_LIMIT);
}

/** The code points that a block has left for a value; without a block, all that there are. */
const roomIn = (block: Block | undefined, limit: number): number => Math.min(limit, block?.left ?? limit);

/** Marks only strings and their containers: a number, `true`, `false` or `null` cannot carry an instruction. */
function markedText(value: unknown, markerId: string, marks: Marks, block?: Block): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return marks.markText(cutText(value, roomIn(block, Infinity)), markerId);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return cutText(valueText(value) ?? '', roomIn(block, Infinity));
  return marks.markJson((clean) => startOfJson(value, roomIn(block, NESTED_LIMIT), clean), markerId);
}

/** The value of a placeholder, or the list of a block. */
const readValue = ({ path, from }: PathSegment | EachSegment, payload: unknown, block?: Block): unknown =>
  valueAtPath(from === 'root' && block !== undefined ? block.root : payload, path);

function linkPlaceholder(segment: PathSegment, marks: Marks): Resolve {
  const { path, from, builtin, marked } = segment;
  if (path.length === 0 && from === undefined) return () => undefined;
  if (marked) {
    return (payload, builtins, id, block) =>
      markedText(readValue(segment, payload, block), id, marks, block) ??
      (builtin === null ? undefined : marks.markText(builtins[builtin], id));
  }
  return (payload, builtins, _, block) =>
    valueText(readValue(segment, payload, block)) ?? (builtin === null ? undefined : builtins[builtin]);
}

function linkDump({ marked, compact }: DumpSegment, marks: Marks): Resolve {
  const write = (data: unknown, block?: Block, clean?: CleanText | null): string => {
    const [limit, indent] = compact === true ? [EVENT_LIMIT, 0] : [DUMP_LIMIT, 2];
    return startOfJson(plainPayload(data), roomIn(block, limit), clean, indent);
  };
  return marked
    ? (payload, _, id, block) => marks.markJson((clean) => write(payload, block, clean), id)
    : (payload, _, __, block) => write(payload, block);
}

const linkMeta = ({ name, marked }: MetaSegment, marks: Marks): Resolve =>
  marked ? (_, builtins, id) => marks.markText(builtins[name] ?? '', id) : (_, builtins) => builtins[name];

/** Renders a block (§2.5). It stops at its limits, so a list costs no more than is shown of it. */
function linkBlock(segment: EachSegment, link: LinkSegment): Resolve {
  const parts = segment.plan.map(link);
  return (payload, builtins, id, block) => {
    if (block === undefined) throw new Error('a block has no limits');
    const list = readValue(segment, payload, block);
    if (!Array.isArray(list)) {
      block.unresolved.add(segment.text);
      return '';
    }
    let text = '';
    for (let index = 0; index < list.length && block.left > 0 && block.elements > 0; index++) {
      block.elements--;
      for (const part of parts) {
        if (block.left <= 0) break;
        block.index = index;
        text += takeText(part, part.resolve(list[index], builtins, id, block), block);
      }
    }
    return text;
  };
}

/** What a block shows of a part's text. Marks are never cut, but count. */
function takeText(part: LinkedSegment, resolved: string | undefined, block: Block): string {
  if (part.isBlock === true) return resolved ?? '';
  if (resolved === undefined) block.unresolved.add(part.literal);
  const text = resolved ?? part.literal;
  const shown = part.isMarked === true && resolved !== undefined ? text : cutText(text, block.left);
  block.left -= countPoints(shown);
  return shown;
}

type LinkSegment = (segment: TemplateSegment) => LinkedSegment;

/** @param link links the segments of a block */
function linkSegment(segment: TemplateSegment, marks: Marks, link: LinkSegment): LinkedSegment {
  switch (segment.kind) {
    case 'text':
      return { resolve: () => segment.text, literal: '' };
    case 'dump':
      return { resolve: linkDump(segment, marks), literal: '', isMarked: segment.marked === true };
    case 'meta':
      return { resolve: linkMeta(segment, marks), literal: '', isMarked: segment.marked === true };
    case 'events':
      return { resolve: () => '', literal: '', isList: true };
    case 'notice':
      return { resolve: (_, __, id) => marks.notice(id), literal: '' };
    case 'path':
      return { resolve: linkPlaceholder(segment, marks), literal: segment.text, isMarked: segment.marked === true };
    case 'each':
      return { resolve: linkBlock(segment, link), literal: '', isBlock: true };
    case 'index':
      return { resolve: (_, __, ___, block) => String(block?.index ?? 0), literal: '' };
  }
}

/** Links the template of a prompt. @param marks null: it marks nothing */
export function linkPrompt(plan: TemplatePlan, marks: Marks | null): RenderPrompt {
  const link: LinkSegment = (segment) => linkSegment(segment, marks ?? NO_MARKS, link);
  return linkParts(plan, link);
}

/** The renderer allocates nothing but its result. */
function linkParts(plan: TemplatePlan, link: LinkSegment): RenderPrompt {
  if (plan.every((segment) => segment.kind === 'text')) {
    const constant: Rendered = { text: plan.map((segment) => segment.text).join(''), unresolved: ALL_RESOLVED };
    return () => constant;
  }
  const parts = plan.map(link);
  return (payload, builtins, markerId) => {
    let text = '';
    let unresolved: string[] | null = null;
    let eventsAt: number[] | null = null;
    for (const part of parts) {
      if (part.isList === true) eventsAt = [...(eventsAt ?? []), text.length];
      const block = part.isBlock === true ? newBlock(payload) : undefined;
      const resolved = part.resolve(payload, builtins, markerId, block);
      if (block !== undefined && block.unresolved.size > 0) unresolved = [...(unresolved ?? []), ...block.unresolved];
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

const newBlock = (root: unknown): Block => ({
  root,
  index: 0,
  left: BLOCK_LIMIT,
  elements: ELEMENT_LIMIT,
  unresolved: new Set(),
});

/** Links a template that marks nothing: an address. */
export function linkTemplate(plan: TemplatePlan): RenderTemplate {
  const render = linkPrompt(plan, null);
  return (payload, builtins) => render(payload, builtins, '');
}

/** Links the body of a response: in JSON, XML and HTML, values are escaped, so that a sender can change no more than its value. */
export function linkBody(plan: TemplatePlan, contentType: string): RenderTemplate {
  const isXml = /[/+](?:xml|html)\b/i.test(contentType);
  const render = isJsonType(contentType) || isXml ? linkParts(plan, escapingLinker(isXml)) : linkPrompt(plan, null);
  return (payload, builtins) => render(payload, builtins, '');
}

const escaping = (clean: CleanText): Marks => ({
  notice: noMarks,
  markText: clean,
  markJson: (write) => clean(write(null)),
});

const IN_XML = escaping((text) => text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`));
const IN_STRING = escaping((text) => JSON.stringify(text).slice(1, -1));
/** Outside of a string, a value is JSON. One that was cut is `null`. */
const AS_JSON: Marks = {
  ...escaping((text) => JSON.stringify(text)),
  markJson: (write) => [write(null), 'null'].find(isJson) ?? '',
};

const withMark = <T extends TemplateSegment>(segment: T): T => ({ ...segment, marked: true });

/** Links the segments of a text in their order. */
function escapingLinker(isXml: boolean): LinkSegment {
  let inString = false;
  const link: LinkSegment = (segment) => {
    if (segment.kind === 'text')
      for (const [sign] of segment.text.matchAll(/\\.|"/gs)) inString = inString !== (sign === '"');
    const marks = isXml ? IN_XML : inString ? IN_STRING : AS_JSON;
    const part = linkSegment(withMark(segment), marks, link);
    // Escapes are never cut.
    return part.isBlock
      ? part
      : { ...part, isMarked: true, literal: marks === AS_JSON ? 'null' : marks.markText(part.literal, '') };
  };
  return link;
}

/**
 * Writes only the start of a value's JSON, for dumps and nested values in templates (§2.5, §8). Only a bounded copy is made and
 * written: `JSON.stringify` of a payload of 840 KB takes 5 ms, this 41 us.
 */

/** Applied to every string of a value, keys included, before it is written. */
export type CleanText = (text: string) => string;

/** The first `limit` code points of `text`; a surrogate pair is never split. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (let left = limit; left > 0 && end < text.length; left--) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function countPoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/**
 * Copies the part of a value that the first characters of its JSON show, for JSON.stringify to write: the work is bounded by
 * the limit, not by the payload. For 4000 characters of 840 KB it takes 0.05 ms, JSON.stringify of the whole 5 ms.
 */
class BoundedCopy {
  /** Upper bound of the code points that may still be shown. */
  private left: number;
  private readonly indent: number;
  private readonly clean: CleanText | null;
  private isExact = false;

  constructor(limit: number, indent: number, clean: CleanText | null) {
    this.left = limit;
    this.indent = indent;
    this.clean = clean;
  }

  /** The start of the value's JSON. */
  write(value: unknown): string {
    const copy = this.of(value, 1);
    return this.isExact ? writeJson(copy, this.indent) : JSON.stringify(copy, null, this.indent);
  }

  private of(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) {
      this.isExact ||= typeof value === 'object' && value !== null;
      this.left -= 1;
      return value;
    }
    this.left -= 1;
    return Array.isArray(value) ? this.array(value, depth) : this.object(value as Record<string, unknown>, depth);
  }

  /** Each unit of the text becomes at least one of JSON, and a code point has at most two. */
  private text(written: string): string {
    const text = this.clean === null ? written : this.clean(written);
    const part = text.slice(0, 2 * Math.max(0, this.left) + 2);
    this.left -= part.length / 2 + 2;
    return part;
  }

  private array(value: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const item of value) {
      if (this.left <= 0) break;
      this.left -= this.indent * depth;
      copy.push(this.of(item, depth + 1));
    }
    return copy;
  }

  private object(value: Record<string, unknown>, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      if (this.left <= 0) break;
      this.left -= this.indent * depth;
      const shown = this.text(key);
      const inner = this.of(value[key], depth + 1);
      if (shown === '__proto__') Object.defineProperty(copy, shown, { value: inner, enumerable: true });
      else copy[shown] = inner;
    }
    return copy;
  }
}

/** The first `limit` code points of the value's JSON. @param indent in spaces; 0: on one line */
export function startOfJson(value: unknown, limit: number, clean: CleanText | null = null, indent = 0): string {
  return cutText(new BoundedCopy(limit, indent, clean).write(value), limit);
}

/** A template as it was written. */
export function printTemplate(plan: TemplatePlan): string {
  return plan.map(printSegment).join('');
}

function printSegment(segment: TemplateSegment): string {
  switch (segment.kind) {
    case 'text':
    case 'path':
      return segment.text;
    case 'each':
      return `${segment.text}${printTemplate(segment.plan)}{/each}`;
    case 'index':
      return '{@index}';
    case 'dump':
      return '{__raw__}';
    case 'events':
      return '{events}';
    case 'meta':
      return `{${segment.name}}`;
    case 'notice':
      return '';
  }
}

/** `action in ["opened"]`, `any of (…, …)`, `any_of commits where (…)`. */
export function printFilter(plan: FilterPlan): string {
  if (plan.kind === 'leaf')
    return `${printField(plan.field)} ${plan.operator} ${plan.exact ?? JSON.stringify(plan.value)}`;
  if ('where' in plan) return `${plan.kind} ${printField(plan.field)} where (${printFilter(plan.where)})`;
  const members = plan.filters.map(printFilter);
  return plan.kind === 'not' ? `not (${members.join(', ')})` : `${plan.kind} of (${members.join(', ')})`;
}
