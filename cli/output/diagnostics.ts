/** Prints diagnostics in the requested format, and notes which files were read. */
import type { CompileResult } from '../../compiler/compile.ts';
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts';
import type { DiagnosticFormat } from '../../compiler/print/print.ts';
import { printDiagnostics } from '../../compiler/print/print.ts';
import type { CliContext } from '../base/context.ts';
import { printNote } from './print.ts';

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

/** Printed on a terminal, or if there is something to report; a script expects no output if nothing is wrong. */
export function noteFilesRead(context: CliContext, { files, diagnostics }: CompileResult): void {
  if (files.length === 0 || (context.stderr.isTTY !== true && diagnostics.length === 0)) return;
  printNote(context, `read ${files.join(', ')}`);
}

/** Two configs are rarely meant: the one that counts may not be the one that was edited. */
export function noteIgnored(context: CliContext, { files, ignored }: Pick<CompileResult, 'files' | 'ignored'>): void {
  const [used] = files;
  if (used === undefined) return;
  for (const other of ignored) printNote(context, `not read: ${other}, because ${used} is; --config names another`);
}
