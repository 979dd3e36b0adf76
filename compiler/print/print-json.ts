/** Prints diagnostics for programs: an array of objects with stable keys. */

import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';

/** Returns indented JSON that ends with a line break. */
export function printDiagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return `${JSON.stringify(diagnosticRecords(diagnostics), null, 2)}\n`;
}

/** Lines and columns are 1-based; columns count UTF-16 code units; the end is exclusive. */
export function diagnosticRecords(diagnostics: readonly Diagnostic[]) {
  const lines = createLines();
  return diagnostics.map(({ source, range, severity, rule, message, hint, related, fix }) => ({
    rule,
    severity,
    ...place(source, range, lines),
    message,
    hint: hint ?? null,
    fix: fix?.map((edit) => ({ ...place(source, edit.range, lines), text: edit.text })) ?? null,
    related: (related ?? []).map((other) => ({ ...place(other.source, other.range, lines), message: other.message })),
  }));
}

function place(source: SourceText, range: Range, lines: Lines) {
  const { start, end } = lines.spanOf(source, range);
  return { file: source.name, line: start.line, column: start.column, end_line: end.line, end_column: end.column };
}
