/**
 * Maps a part of a scalar's value to its range in the file, so that a diagnostic can point into a prompt.
 * Quoting escapes characters and folding changes white space, but neither adds, removes or reorders visible characters. So
 * the n-th visible character of the value is the n-th visible character of the text.
 */
import type { Scalar } from 'yaml';
import type { Range } from '../text/source-text.ts';

export interface Part {
  /** In UTF-16 code units of the decoded value. */
  readonly offset: number;
  readonly length: number;
}

/** Maps offsets of one scalar. Created once per scalar, because a prompt may have a problem on every line. */
export class ScalarMap {
  private readonly start: number;
  /** Range in the file, by visible character. */
  private readonly units: readonly Range[];
  /** Number of preceding visible characters, by UTF-16 code unit of the decoded value. */
  private readonly before: Uint32Array;

  constructor(text: string, node: Scalar) {
    const [start, end] = node.range ?? [0, 0];
    this.start = start;
    this.units = (SCANNERS[String(node.type)] ?? block)(text.slice(start, end));
    this.before = visibleBefore(typeof node.value === 'string' ? node.value : (node.source ?? ''));
  }

  /** Returns null if the part cannot be mapped: it is only white space, or follows an unusual escape. */
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

/** Number of visible UTF-16 code units that one written character stands for. */
function visibleLength(piece: string): number {
  if (!piece.startsWith('\\') || piece.length === 1) return 1;
  if (/^\\[xuU]/.test(piece)) return countVisible(String.fromCodePoint(Number.parseInt(piece.slice(2), 16) || 0));
  return /^\\[\s tnvfr_LP]/.test(piece) ? 0 : 1;
}

/** Ranges of the characters between quotes. */
function inner(raw: string, unit: RegExp): readonly Range[] {
  return scan(raw.slice(1, -1), unit, 1);
}

/** Ranges of the characters below a block header (`|`, `>-`, …). */
function block(raw: string): readonly Range[] {
  const body = raw.indexOf('\n') + 1;
  return scan(raw.slice(body), /\S/g, body);
}
