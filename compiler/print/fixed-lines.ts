/** Shows the lines that a fix would change, after the change. */

import { applyEdits } from '../diagnostics/apply-edits.ts';
import type { TextEdit } from '../diagnostics/diagnostic.ts';
import { printable } from '../diagnostics/printable.ts';
import type { SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import type { SafeLine } from './safe-lines.ts';

const MAX_LINES = 6;

/** Returns the lines without their common indentation, or null if a line contains a masked value. */
export function fixedLines(
  source: SourceText,
  edits: readonly TextEdit[],
  { lines, safeLine }: { readonly lines: Lines; readonly safeLine: SafeLine },
): readonly string[] | null {
  const first = lines.positionOf(source, edits[0]?.range.start ?? 0);
  const last = lines.positionOf(source, edits.at(-1)?.range.end ?? 0);
  for (let line = first.line; line <= last.line; line++) {
    if (safeLine(source, line) !== printable(lines.textOf(source, line))) return null;
  }
  // Only these lines are copied: a file of 100,000 lines may have a fix for each tenth.
  const start = (edits[0]?.range.start ?? 0) - first.column + 1;
  const end = (edits.at(-1)?.range.end ?? 0) - last.column + 1 + lines.textOf(source, last.line).length;
  const within = edits.map(({ range, ...edit }) => ({
    ...edit,
    range: { start: range.start - start, end: range.end - start },
  }));
  const text = applyEdits(source.text.slice(start, end), within);
  return dedent(printable(text.replace(/^\n+|\s+$/g, '')).split('\n'));
}

function dedent(lines: readonly string[]): readonly string[] {
  const depth = Math.min(
    ...lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)?.[0].length ?? 0),
  );
  const shown = lines.slice(0, MAX_LINES).map((line) => line.slice(depth));
  return lines.length > MAX_LINES ? [...shown, '…'] : shown;
}
