/**
 * Splits a text at a target's limit, which is counted in the target's own unit.
 *
 * Joining the pieces gives the text again. A piece ends after the last paragraph that fits; if that left it less than half
 * full, after the last line, then after the last word. Only a word longer than the limit is cut: between grapheme
 * clusters (letters with combining marks, joined emoji), and never inside an entity that escaping wrote.
 */
import type { Limit } from './measure.ts';
import { fitEnd } from './measure.ts';

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
