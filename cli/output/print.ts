/** How commands write: results to stdout, everything a person reads beside them to stderr, wrapped to the terminal. */
import { stripVTControlCharacters } from 'node:util';
import { displayWidth, showUnseen } from '../../base/text.ts';
import type { CompileResult } from '../../compiler/compile.ts';
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts';
import type { DiagnosticFormat } from '../../compiler/print/print.ts';
import { printDiagnostics } from '../../compiler/print/print.ts';
import type { CliContext } from '../base/context.ts';

/** Width of the terminal that results are written to; undefined if it is not a terminal, so that nothing is wrapped or cut. */
export const terminalWidth = ({ stdout }: CliContext): number | undefined =>
  stdout.isTTY ? stdout.columns : undefined;

/** One line of a result. */
export function printLine(context: CliContext, text = ''): void {
  context.stdout.write(`${text}\n`);
}

/** A result for programs: `--json`. */
export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Output besides the result: progress, advice, warnings. */
export function printNote(context: CliContext, text: string): void {
  context.stderr.write(`${text}\n`);
}

/** Shows controls and what is not seen, so that no stored text can drive the terminal it is shown on, or read as another. */
export const visible = showUnseen;

/** @param width columns of the terminal; a word that is wider has a line of its own. Colours take no columns. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.trimEnd().split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/**
 * A label and the text beside it: the lines after the first are indented as far as the text of the first is.
 * @param width columns of the terminal; without it, the text stays on one line
 */
export function wrapBeside(label: string, text: string, width: number | undefined): string[] {
  if (width === undefined) return [label + text];
  const indent = columnsOf(label);
  return wrapWords(text, width - indent).map((line, at) => (at === 0 ? label : ' '.repeat(indent)) + line);
}

/** A label and the text beside it, wrapped to the terminal. */
export function printBeside(context: CliContext, label: string, text: string): void {
  for (const line of wrapBeside(label, text, terminalWidth(context))) printLine(context, line);
}

const columnsOf = (text: string): number => displayWidth(stripVTControlCharacters(text));

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
export function noteFilesRead(context: CliContext, result: CompileResult): void {
  const { files, diagnostics } = result;
  const isAsked = context.stderr.isTTY === true || diagnostics.length > 0;
  if (files.length > 0 && isAsked) printNote(context, `read ${files.join(', ')}`);
  noteIgnored(context, result);
}

/** Two configs are rarely meant: the one that counts may not be the one that was edited. */
export function noteIgnored(context: CliContext, { files, ignored }: Pick<CompileResult, 'files' | 'ignored'>): void {
  const [used] = files;
  if (used === undefined) return;
  for (const other of ignored) printNote(context, `not read: ${other}, because ${used} is; --config names another`);
}
