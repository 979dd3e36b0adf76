/** Lines of files as a code frame may show them: what diagnostics call sensitive, and whatever looks like a credential, is covered. */
import type { Range, SourceText } from '../source/source-text.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Lines } from './lines.ts';
import { mask, maskCredentials, maskValue, printable } from './printable.ts';

/** Text of a line (1-based) without its line end; as long as the line itself. */
export type SafeLine = (source: SourceText, line: number) => string;

/** A sensitive part is covered in every frame of its line, not only in that of the diagnostic that knows about it. */
export function createSafeLines(diagnostics: readonly Diagnostic[], lines: Lines): SafeLine {
  const sensitive = new Map<string, Range[]>();
  for (const { source, range, sensitive: isSensitive } of diagnostics) {
    if (isSensitive !== true) continue;
    const { line, column } = lines.positionOf(source, range.start);
    const part = { start: column - 1, end: column - 1 + range.end - range.start };
    const id = `${line} ${source.path}`;
    const known = sensitive.get(id);
    if (known === undefined) sensitive.set(id, [part]);
    else known.push(part);
  }
  return (source, line) => {
    const text = maskCredentials(lines.textOf(source, line));
    return printable((sensitive.get(`${line} ${source.path}`) ?? []).reduce(cover, text));
  };
}

/** The part itself; of a key, what stands behind it. */
function cover(text: string, { start, end }: Range): string {
  const rest = text.slice(end);
  if (/^\s*:/.test(rest)) return text.slice(0, end) + maskValue(rest);
  return text.slice(0, start) + mask(text.slice(start, end)) + rest;
}
