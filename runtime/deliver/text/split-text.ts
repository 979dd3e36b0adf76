/**
 * Splits a text at a target's limit, which is counted in the target's own unit.
 *
 * Joining the pieces gives the text again. A piece ends after the last paragraph that fits; if that left it less than half
 * full, after the last line, then after the last word. Only a word longer than the limit is cut: between grapheme
 * clusters (letters with combining marks, joined emoji), and never inside an entity that escaping wrote.
 */
import type { TextPlan } from '../../../schemas/generated/types.ts';

export interface SplitOptions extends Limit {
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

/** Places where a piece may end: not before a mark that combines with the blank, nor between CR and LF. */
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

/** How far past the limit the last grapheme cluster may extend, in UTF-16 units. */
const BEYOND = 64;

function hardBreak(text: string, { start, fits }: Window, atoms: RegExp | null): number {
  const view = characters.segment(text.slice(start, fits + BEYOND));
  const character = view.containing(fits - start)?.index ?? 0;
  // A grapheme cluster as long as the whole window is hostile; it is cut between code points.
  const end = character === 0 ? fits : start + character;
  return atoms === null ? end : beforeAtom(text, { start, fits: end }, atoms);
}

/** Longest atom, in UTF-16 units: `&amp;`. */
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
