/** Prints which files a compile read, and which other configuration it ignored. */
import type { CompileResult } from '../../compiler/compile.ts';
import type { CliContext } from '../base/context.ts';
import { printNote } from './print.ts';

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
