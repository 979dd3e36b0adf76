/** Prepares the text of a delivery: applies transforms, disables mentions, and splits it at the target's limit. */
import { isBlank } from '../../base/text.ts';
import type { TargetPlan, TextPlan } from '../../schemas/generated/types.ts';

/** Like `preparePieces`, with mentions disabled if the plan requires it. */
export async function prepareText(plan: TextPlan, raw: string): Promise<Pieces> {
  if (!plan.transforms.includes('quiet_mentions')) return preparePieces(plan, raw);
  // The other transforms come first, because removing a control character could create a mention.
  const text = transformText(raw, plan.transforms);
  const whole = preparePieces(plan, await quietMentions(text, { whole: true }));
  if (whole.kind !== 'pieces' || (whole.pieces.length === 1 && plan.overflow !== 'truncate')) return whole;
  return preparePieces(plan, await quietMentions(text, { whole: false }));
}

/** Whether each variant of the target sends the text as a whole, even if mentions are disabled everywhere. */
export const isOneMessage = (target: TargetPlan | undefined, raw: string): boolean =>
  (target?.variants ?? []).every(({ text: { limit, unit, transforms } }) => {
    const text = transformText(raw, transforms);
    return limit === null || measure(transforms.includes('quiet_mentions') ? quiet(text) : text, unit) <= limit;
  });

/** Prepares a text that is not split: one of several in a message. */
export async function quietText({ transforms }: TextPlan, raw: string): Promise<string> {
  const text = transformText(raw, transforms);
  return transforms.includes('quiet_mentions') ? quietMentions(text, { whole: true }) : text;
}

/** The pieces in order, or why there are none. */
type Pieces = { readonly kind: 'pieces'; readonly pieces: readonly string[] } | Refused;
type Refused = { readonly kind: 'refused'; readonly reason: string };

const ELLIPSIS = '…';

/** Rejects an empty text, and a long one if the plan forbids splitting or it needs too many pieces. */
export function preparePieces(plan: TextPlan, raw: string): Pieces {
  const text = transformText(raw, plan.transforms);
  if (isBlank(text)) return { kind: 'refused', reason: 'the text is empty' };
  if (plan.limit === null || measure(text, plan.unit) <= plan.limit) return { kind: 'pieces', pieces: [text] };
  return OVERFLOW[plan.overflow]({ ...plan, limit: plan.limit }, text);
}

type Limited = TextPlan & { readonly limit: number };

const OVERFLOW: Readonly<Record<TextPlan['overflow'], (plan: Limited, text: string) => Pieces>> = {
  split: (plan, text) => {
    const pieces = plan.numbered ? splitNumbered(plan, text) : splitAt(plan, text, 0);
    if (pieces.length <= plan.max_pieces) return { kind: 'pieces', pieces };
    return {
      kind: 'refused',
      reason: `the text needs ${pieces.length} messages, at most ${plan.max_pieces} are allowed`,
    };
  },
  truncate: (plan, text) => {
    const [first = ''] = splitAt(plan, text, measure(ELLIPSIS, plan.unit));
    return { kind: 'pieces', pieces: [`${first.trimEnd()}${ELLIPSIS}`] };
  },
  reject: (plan, text) => {
    const length = measure(text, plan.unit);
    return { kind: 'refused', reason: `the text is too long: ${length} of ${plan.limit} ${plan.unit}` };
  },
};

/** @param room length reserved in every piece */
function splitAt(plan: Limited, text: string, room: number): string[] {
  return splitText(text, { limit: plan.limit - room, unit: plan.unit, atoms: atomsOf(plan.transforms) });
}

/** ` (i/n)` needs room that depends on the number of pieces, so more digits are tried until they suffice. */
function splitNumbered(plan: Limited, text: string): string[] {
  for (let digits = 1; ; digits++) {
    const pieces = splitAt(plan, text, ' (/)'.length + 2 * digits);
    const count = String(pieces.length);
    if (count.length <= digits) return pieces.map((piece, index) => `${piece} (${index + 1}/${count})`);
  }
}

/*
 * Prevents delivered Markdown from notifying people on code hosts: inserts an invisible character after each `@` that could
 * start a mention (in lists, quotes, HTML, links and inline code too), and after each entity that stands for an `@`.
 *
 * Fenced code is not changed: it cannot mention anyone, and suggested changes must stay applicable. A CommonMark parser
 * finds the ends of fences. Code hosts extend CommonMark: after HTML or a footnote outside of code, the parser and the
 * host may disagree, and then nothing counts as code.
 */

/** After a letter or digit, `@` is part of an address (`a@b.c`), unless an entity ends there: `&copy@name` in HTML. */
const MENTION = /(?:(?<![A-Za-z0-9])|(?<=&#?[A-Za-z0-9]{1,40}))@(?=[^ \t\r\n@\u200B])/g;
/** In HTML a numeric entity needs no semicolon. */
const ENTITY = /&(?:#0*64(?![0-9])|#[xX]0*40(?![0-9A-Fa-f])|commat(?=;));?/g;
/** May start something that CommonMark and a code host parse differently, in lists and quotes too. */
const DOUBTFUL = /^[ \t>*+.)\d-]*(?:<[A-Za-z/!?]|\[\^[^\]]*\]:)/;

const MAY_MENTION = /[@&]/;

/** @param options.whole the text is delivered in one piece; otherwise a fence may end with its piece */
export async function quietMentions(text: string, { whole }: { readonly whole: boolean }): Promise<string> {
  if (!MAY_MENTION.test(text)) return text;
  const fenced = whole ? await fencedLines(text) : null;
  if (fenced === null || fenced.size === 0) return quiet(text);
  // Split at the same line ends as the parser, so that its line numbers apply; the ends are kept.
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const isCode = (index: number): boolean => fenced.has(index + 1);
  if (lines.some((line, index) => !isCode(index) && DOUBTFUL.test(line))) return quiet(text);
  return lines.map((line, index) => (isCode(index) ? line : quiet(line))).join('');
}

const quiet = (text: string): string => text.replace(ENTITY, (entity) => `${entity}\u200B`).replace(MENTION, '@\u200B');

/** Maximum length of a parsed text, in UTF-16 units: no comment is longer, and the event loop must not be blocked. */
const MAX_LENGTH = 65_536;
/** Texts with deeper nesting of lists and quotes are not parsed either, because the time grows with the depth. */
const DEEP = /^[ \t>*+.)\d-]{200}/m;
const FENCE = /`{3}|~{3}/;

/** Line numbers from 1, without the opening fence; null when the text is not parsed. */
async function fencedLines(text: string): Promise<ReadonlySet<number> | null> {
  if (!FENCE.test(text)) return new Set();
  if (text.length > MAX_LENGTH || DEEP.test(text)) return null;
  const { Parser } = await import('commonmark');
  // Only blocks are parsed: parsing links can take seconds on hostile text.
  const parser = Object.assign(new Parser(), { processInlines: () => undefined });
  const lines = new Set<number>();
  const walker = parser.parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { type, info, sourcepos } = step.node;
    // Indented code has no info string, while fenced code has at least an empty one.
    if (type !== 'code_block' || info === null) continue;
    const [[first], [last]] = sourcepos;
    for (let line = first + 1; line <= last; line++) lines.add(line);
  }
  return lines;
}

/*
 * Splits a text at a target's limit, which is counted in the target's own unit.
 *
 * Joining the pieces gives the text again. A piece ends after the last paragraph that fits; if that left it less than half
 * full, after the last line, then after the last word. Only a word longer than the limit is cut: between grapheme
 * clusters (letters with combining marks, joined emoji), and never inside an entity that escaping wrote.
 */

interface SplitOptions extends Limit {
  /** A sticky expression; its matches are never cut. */
  readonly atoms: RegExp | null;
}

/** Returns the pieces; none for an empty text. */
export function splitText(text: string, options: SplitOptions): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    const fits = fitEnd(text, start, options);
    const end = fits >= text.length ? text.length : findBreak(text, { start, fits }, options.atoms);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

interface Window {
  readonly start: number;
  /** The first offset that no longer fits. */
  readonly fits: number;
}

/** Positions where a piece may end: not before a mark that combines with the blank, nor between CR and LF. */
const PARAGRAPH = /\n[^\S\n]*\n(?![\p{M}\u200D])/gu;
const LINE = /\n(?![\p{M}\u200D])/gu;
const BLANK = /(?:\r\n|\s)(?![\p{M}\u200D])/gu;

function findBreak(text: string, window: Window, atoms: RegExp | null): number {
  const { start, fits } = window;
  // A break after blanks at the start of the window would give a blank piece.
  const ink = start + text.slice(start, fits).search(/\S/);
  if (ink < start) return fits;
  const half = Math.max(ink, start + (fits - start) / 2);
  const paragraph = lastEnd(text, window, PARAGRAPH);
  if (paragraph > half) return paragraph;
  const line = lastEnd(text, window, LINE);
  if (line > half) return line;
  // A word ends exactly at the limit; the blank after it starts the next piece.
  if (/^[^\S\n](?![\p{M}\u200D])/u.test(text.slice(fits, fits + 3)) && !/\s$/.test(text.slice(fits - 1, fits)))
    return fits;
  const word = lastEnd(text, window, BLANK);
  return word > ink ? word : hardBreak(text, window, atoms);
}

/** The end of the last match within the window; -1 when there is none. */
function lastEnd(text: string, { start, fits }: Window, pattern: RegExp): number {
  // Two more units for the lookahead.
  const view = text.slice(start, fits + 2);
  let end = -1;
  for (const match of view.matchAll(pattern)) {
    const matchEnd = start + match.index + match[0].length;
    if (matchEnd > fits) break;
    end = matchEnd;
  }
  return end;
}

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Maximum extent of the last grapheme cluster past the limit, in UTF-16 units. */
const BEYOND = 64;

function hardBreak(text: string, { start, fits }: Window, atoms: RegExp | null): number {
  const view = characters.segment(text.slice(start, fits + BEYOND));
  const character = view.containing(fits - start)?.index ?? 0;
  // A grapheme cluster as long as the whole window is hostile; it is cut between code points.
  const end = character === 0 ? fits : start + character;
  return atoms === null ? end : beforeAtom(text, { start, fits: end }, atoms);
}

/** Maximum length of an atom, in UTF-16 units: `&amp;`. */
const ATOM_UNITS = 5;

function beforeAtom(text: string, { start, fits }: Window, atoms: RegExp): number {
  for (let at = Math.max(start + 1, fits - ATOM_UNITS + 1); at < fits; at++) {
    atoms.lastIndex = at;
    if (atoms.test(text) && atoms.lastIndex > fits) return at;
  }
  return fits;
}

/** Measures texts in a target's own unit, for splitting. */
type Unit = TextPlan['unit'];

interface Limit {
  readonly limit: number;
  readonly unit: Unit;
}

/** Length of one code point. */
const COST: Readonly<Record<Unit, (code: number) => number>> = {
  utf16: (code) => (code > 0xffff ? 2 : 1),
  codepoint: () => 1,
  byte: utf8Bytes,
  json_byte: jsonBytes,
};

function utf8Bytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** Bytes that JSON.stringify writes: two for line ends and similar escapes, six for other control characters. */
function jsonBytes(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code >= 0x20) return utf8Bytes(code);
  return code === 0x08 || code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d ? 2 : 6;
}

/** Length of a well-formed text. */
export function measure(text: string, unit: Unit): number {
  if (unit === 'utf16') return text.length;
  const cost = COST[unit];
  let length = 0;
  for (const char of text) length += cost(char.codePointAt(0) ?? 0);
  return length;
}

/** The UTF-16 offset up to which `text`, from `start`, fits into the limit; never inside a surrogate pair. */
function fitEnd(text: string, start: number, { limit, unit }: Limit): number {
  const cost = COST[unit];
  let end = start;
  let length = 0;
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    length += cost(code);
    if (length > limit) break;
    end += code > 0xffff ? 2 : 1;
  }
  return end;
}

/*
 * The text transforms of target plans. They prevent a service from parsing delivered text as markup or as a mention of many
 * people. They run in the plan's order, before splitting, so that the characters they add count.
 */

type Transform = TextPlan['transforms'][number];

/** Zero-width space: invisible, and it ends any markup that a parser had begun to recognise. */
const ZWSP = '\u200B';

const TRANSFORMS: Readonly<Record<Transform, (text: string) => string>> = {
  // `&` first, because the entities contain it.
  slack_entities: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  // The service decodes character references before it looks for names.
  zwsp_after_at: (text) => text.replaceAll('@', `@${ZWSP}`).replace(/&(?=#|commat;)/gi, `&${ZWSP}`),
  break_angle_at: (text) => text.replace(/<(?=@|at\b)/gi, `<${ZWSP}`),
  break_angle: (text) => text.replaceAll('<', `<${ZWSP}`),
  break_everyone: (text) => text.replace(/@(?=everyone|here|all)/gi, `@${ZWSP}`),
  break_templates: (text) => text.replace(/\{(?=[{%#])/g, `{${ZWSP}`),
  // A command for a bot or a code host starts a line; blanks before it may be removed.
  break_commands: (text) => text.replace(/^([^\S\r\n\u2028\u2029]*)\/(?=[a-z])/gim, `$1${ZWSP}/`),
  // Needs a parser, which is loaded on demand: prepare-text.ts.
  quiet_mentions: (text) => text,
  strip_controls: (text) => text.replace(/[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/g, ''),
};

/** Replaces lone surrogates with U+FFFD first, because UTF-8 cannot encode them. */
export function transformText(text: string, transforms: readonly Transform[]): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  return transforms.reduce((result, name) => TRANSFORMS[name](result), wellFormed);
}

/** Matches the sequences that a transform writes and that must not be split; null when there are none. */
function atomsOf(transforms: readonly Transform[]): RegExp | null {
  return transforms.includes('slack_entities') ? /&(?:amp|lt|gt);/y : null;
}
