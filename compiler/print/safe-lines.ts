/** Source lines that are safe to print: sensitive ranges of diagnostics and anything that looks like a credential are masked. */

import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { mask, maskCredentials, printable } from '../diagnostics/printable.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';
import { secretParts } from './secret-parts.ts';

/** Returns the masked text of a line (1-based), without its line end. Masking keeps the length. */
export type SafeLine = (source: SourceText, line: number) => string;

/** Columns of one line, 0-based and half-open. */
type Columns = Range;
type LineParts = ReadonlyMap<number, readonly Columns[]>;

/** Masks sensitive ranges in all code frames of a file, not only in that of the diagnostic that reports them. */
export function createSafeLines(diagnostics: readonly Diagnostic[], lines: Lines): SafeLine {
  const sensitive = sensitiveRanges(diagnostics);
  const known = new Map<string, LineParts | null>();
  const partsOf = (source: SourceText): LineParts | null => {
    const found = known.get(source.path);
    if (found !== undefined) return found;
    const parts = findParts(source, sensitive.get(source.path) ?? [], lines);
    known.set(source.path, parts);
    return parts;
  };
  const cleaned = (source: SourceText, line: number): string => {
    const text = lines.textOf(source, line);
    const parts = partsOf(source);
    if (parts === null) return mask(text);
    return printable((parts.get(line) ?? []).reduce(cover, maskCredentials(text)));
  };
  // Diagnostics are in file order, and a long line may have very many.
  let last = { path: '', line: 0, text: '' };
  return (source, line) => {
    if (last.line !== line || last.path !== source.path)
      last = { path: source.path, line, text: cleaned(source, line) };
    return last.text;
  };
}

/** Masks a whole text, line by line. */
export function safeText(source: SourceText): string {
  const safeLine = createSafeLines([], createLines());
  return source.text
    .split('\n')
    .map((_, index) => safeLine(source, index + 1))
    .join('\n');
}

const cover = (text: string, { start, end }: Columns): string =>
  text.slice(0, start) + mask(text.slice(start, end)) + text.slice(end);

function sensitiveRanges(diagnostics: readonly Diagnostic[]): ReadonlyMap<string, readonly Range[]> {
  const ranges = new Map<string, Range[]>();
  for (const { source, range, sensitive } of diagnostics) {
    if (sensitive !== true) continue;
    const known = ranges.get(source.path);
    if (known === undefined) ranges.set(source.path, [range]);
    else known.push(range);
  }
  return ranges;
}

/** Returns null if the text could not be analysed; none of it may then be shown. */
function findParts(source: SourceText, sensitive: readonly Range[], lines: Lines): LineParts | null {
  const found = secretParts(source, new Set(sensitive.map(({ start }) => start)));
  if (found === null) return null;
  const parts = new Map<number, Columns[]>();
  // `secretParts` masks the values of sensitive keys; other ranges are masked themselves.
  const others = sensitive.filter(({ end }) => !/^["']?[ \t]*:/.test(source.text.slice(end, end + 8)));
  for (const range of [...found, ...others]) addLines(parts, source, range, lines);
  return parts;
}

function addLines(parts: Map<number, Columns[]>, source: SourceText, range: Range, lines: Lines): void {
  const first = lines.positionOf(source, range.start);
  const last = lines.positionOf(source, range.end);
  for (let line = first.line; line <= last.line; line++) {
    const start = line === first.line ? first.column - 1 : 0;
    const end = line === last.line ? last.column - 1 : Number.POSITIVE_INFINITY;
    const known = parts.get(line);
    if (known === undefined) parts.set(line, [{ start, end }]);
    else known.push({ start, end });
  }
}
