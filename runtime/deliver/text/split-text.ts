/**
 * Splits a text at a target's limit, counted in the target's own unit, for services that take only so much at once.
 *
 * The pieces joined are the text again. A piece ends behind the last paragraph of what fits; when that would leave it
 * less than half full, behind the last line, then behind the last word. Only a word longer than the limit is cut, and
 * then between characters as readers see them (letters with their combining marks, joined emoji), and never inside an
 * entity that escaping wrote.
 */
import type { Limit } from './measure.ts';
import { fitEnd } from './measure.ts';

export interface SplitOptions extends Limit {
  /** Sticky; what it matches stays in one piece. */
  readonly atoms: RegExp | null;
}

/** No pieces for an empty text. */
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

/** Blanks end a piece unless a mark combines with them; CR LF is one character. */
const PARAGRAPH = /\n[^\S\n]*\n(?![\p{M}\u200D])/gu;
const LINE = /\n(?![\p{M}\u200D])/gu;
const BLANK = /(?:\r\n|\s)(?![\p{M}\u200D])/gu;

function findBreak(text: string, window: Window, atoms: RegExp | null): number {
  const { start, fits } = window;
  // Blanks that begin the window are no words: a break behind them would make a blank piece.
  const ink = start + text.slice(start, fits).search(/\S/);
  if (ink < start) return fits;
  const half = Math.max(ink, start + (fits - start) / 2);
  const paragraph = lastEnd(text, window, PARAGRAPH);
  if (paragraph > half) return paragraph;
  const line = lastEnd(text, window, LINE);
  if (line > half) return line;
  // A word that ends just where the limit is; the blank behind it begins the next piece.
  if (/^[^\S\n](?![\p{M}\u200D])/u.test(text.slice(fits, fits + 3)) && !/\s$/.test(text.slice(fits - 1, fits)))
    return fits;
  const word = lastEnd(text, window, BLANK);
  return word > ink ? word : hardBreak(text, window, atoms);
}

/** Where the last match within the window ends; -1 without one. */
function lastEnd(text: string, { start, fits }: Window, pattern: RegExp): number {
  // Two units more, for what the lookahead needs to see.
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

/** How far beyond the limit the last character is searched, in UTF-16 units. */
const BEYOND = 64;

function hardBreak(text: string, { start, fits }: Window, atoms: RegExp | null): number {
  const view = characters.segment(text.slice(start, fits + BEYOND));
  const character = view.containing(fits - start)?.index ?? 0;
  // A character as long as the whole window is made to annoy: it is cut, between code points.
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
