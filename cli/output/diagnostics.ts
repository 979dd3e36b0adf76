/** Prints diagnostics in the requested format. */

import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts';
import type { DiagnosticFormat } from '../../compiler/print/print.ts';
import { printDiagnostics } from '../../compiler/print/print.ts';
import type { CliContext } from '../base/context.ts';

/** Width of a terminal that does not report it, in columns. */
export const DIAGNOSTIC_WIDTH = 100;

/** @param stream the one they will be written to: its colours and its width count */
export function formatDiagnostics(
  format: DiagnosticFormat,
  diagnostics: readonly Diagnostic[],
  context: CliContext,
  stream: 'stdout' | 'stderr',
): string {
  const width = context[stream].columns ?? DIAGNOSTIC_WIDTH;
  return printDiagnostics(format, diagnostics, { color: context.colour[stream], width });
}
