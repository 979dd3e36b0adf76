/** Source lines that are safe to print: sensitive ranges of diagnostics and anything that looks like a credential are masked. */

import { groupBy } from '../../base/group-by.ts';
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
  const sensitive = groupBy(
    diagnostics.filter((diagnostic) => diagnostic.sensitive === true),
    ({ source }) => source.path,
  );
  const known = new Map<string, LineParts | null>();
  const partsOf = (source: SourceText): LineParts | null => {
    const found = known.get(source.path);
    if (found !== undefined) return found;
    const parts = findParts(
      source,
      (sensitive.get(source.path) ?? []).map(({ range }) => range),
      lines,
    );
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

/** Returns null if the text could not be analysed; none of it may then be shown. */
function findParts(source: SourceText, sensitive: readonly Range[], lines: Lines): LineParts | null {
  const found = secretParts(source, new Set(sensitive.map(({ start }) => start)));
  if (found === null) return null;
  // `secretParts` masks the values of sensitive keys; other ranges are masked themselves.
  const others = sensitive.filter(({ end }) => !/^["']?[ \t]*:/.test(source.text.slice(end, end + 8)));
  const parts = [...found, ...others].flatMap((range) => partsByLine(source, range, lines));
  return groupBy(parts, ({ line }) => line);
}

interface LinePart extends Columns {
  readonly line: number;
}

/** The columns of a range, in each of its lines. */
function partsByLine(source: SourceText, range: Range, lines: Lines): readonly LinePart[] {
  const { start: first, end: last } = lines.spanOf(source, range);
  return Array.from({ length: last.line - first.line + 1 }, (_, index) => ({
    line: first.line + index,
    start: index === 0 ? first.column - 1 : 0,
    end: first.line + index === last.line ? last.column - 1 : Number.POSITIVE_INFINITY,
  }));
}
