/**
 * Maps a part of a scalar's text back to the file, so that a diagnostic can point into a prompt.
 * Quoting changes characters and folding changes white space, but neither adds, drops or reorders the others: the n-th
 * character that is not white space is the same one on both sides, and that is what is counted.
 */
import type { Scalar } from 'yaml';
import type { Range } from '../text/source-text.ts';

export interface Part {
  /** UTF-16 units in the scalar's decoded text. */
  readonly offset: number;
  readonly length: number;
}

/** A scalar's text beside how it is written. Made once for a scalar: a prompt may have a problem in each of its lines. */
export class ScalarMap {
  private readonly start: number;
  /** By visible character, where it is written. */
  private readonly units: readonly Range[];
  /** By UTF-16 unit of the decoded text, how many visible characters stand before it. */
  private readonly before: Uint32Array;

  constructor(text: string, node: Scalar) {
    const [start, end] = node.range ?? [0, 0];
    this.start = start;
    this.units = (SCANNERS[String(node.type)] ?? block)(text.slice(start, end));
    this.before = visibleBefore(typeof node.value === 'string' ? node.value : (node.source ?? ''));
  }

  /** null when the part cannot be found again (it is white space only, or an exotic escape stands before it). */
  part({ offset, length }: Part): Range | null {
    const before = this.countBefore(offset);
    const inside = this.countBefore(offset + length) - before;
    const first = this.units[before];
    const last = this.units[before + Math.max(inside, 1) - 1];
    if (first === undefined || last === undefined) return null;
    return { start: this.start + first.start, end: this.start + last.end };
  }

  private countBefore(offset: number): number {
    return this.before[Math.min(offset, this.before.length - 1)] ?? 0;
  }
}

function visibleBefore(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  for (let at = 0, count = 0; at < text.length; at++) {
    if (!/\s/.test(text.charAt(at))) count++;
    counts[at + 1] = count;
  }
  return counts;
}

const countVisible = (text: string): number => text.replace(/\s+/g, '').length;

type Scanner = (raw: string) => readonly Range[];

const SCANNERS: Readonly<Record<string, Scanner>> = {
  PLAIN: (raw) => scan(raw, /\S/g),
  QUOTE_SINGLE: (raw) => inner(raw, /''|\S/g),
  QUOTE_DOUBLE: (raw) => inner(raw, /\\(?:x..|u.{4}|U.{8}|\r?\n|.)|\S/g),
  BLOCK_LITERAL: block,
  BLOCK_FOLDED: block,
};

function scan(raw: string, unit: RegExp, base = 0): readonly Range[] {
  return [...raw.matchAll(unit)].flatMap((match) => {
    const start = base + match.index;
    return Array<Range>(visibleLength(match[0])).fill({ start, end: start + match[0].length });
  });
}

/** UTF-16 units that are not white space, of one character as it is written. */
function visibleLength(piece: string): number {
  if (!piece.startsWith('\\') || piece.length === 1) return 1;
  if (/^\\[xuU]/.test(piece)) return countVisible(String.fromCodePoint(Number.parseInt(piece.slice(2), 16) || 0));
  return /^\\[\s tnvfr_LP]/.test(piece) ? 0 : 1;
}

/** Between the quotes. */
function inner(raw: string, unit: RegExp): readonly Range[] {
  return scan(raw.slice(1, -1), unit, 1);
}

/** Below the header line (`|`, `>-`, …). */
function block(raw: string): readonly Range[] {
  const body = raw.indexOf('\n') + 1;
  return scan(raw.slice(body), /\S/g, body);
}
