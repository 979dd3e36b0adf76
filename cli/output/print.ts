/** Prints results to stdout and notes for people to stderr, wrapped to the terminal. */

import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { ScalarTag, Tags } from 'yaml';
import { writeJson } from '../../base/exact-number.ts';
import { displayWidth, escapeInvisible, INVISIBLE_ALONE } from '../../base/text.ts';
import type { CompileResult } from '../../compiler/compile.ts';
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts';
import type { DiagnosticFormat } from '../../compiler/print/print.ts';
import { printDiagnostics } from '../../compiler/print/print.ts';
import type { CliContext } from '../base/context.ts';

/** Width of the terminal of stdout; undefined if it is not a terminal, so that nothing is wrapped or cut. */
export const terminalWidth = ({ stdout }: CliContext): number | undefined =>
  stdout.isTTY ? stdout.columns : undefined;

/** One line of a result. */
export function printLine(context: CliContext, text = ''): void {
  context.stdout.write(`${text}\n`);
}

/** A result for programs: `--json`. */
export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${writeJson(value, 2)}\n`);
}

/** Prints progress, advice or a warning. */
export function printNote(context: CliContext, text: string): void {
  context.stderr.write(`${text}\n`);
}

/** Makes control and invisible characters visible, so that stored text can neither control the terminal nor look like other text. */
export const visible = escapeInvisible;

/** Line breaks, tabs and, in colour, the colours of `createPaint` stay. */
const COLOURED = new RegExp(String.raw`(?![\n\t]|\r\n|\x1b\[(?:[0-2]|22|3[1-69])m)${INVISIBLE_ALONE}`, 'gu');
const CONTROLS = new RegExp(String.raw`(?![\n\t]|\r\n)${INVISIBLE_ALONE}`, 'gu');
const HARMLESS = /^[\n\x20-\x7e]*$/;

/** Commands in the log of a CI job: `::add-mask::` at the start of a line, `##[command]` and `##vso[…]` anywhere. */
const CI_COMMAND = /(?<=^[^\S\n]*):(?=:(?!(?:error|warning|notice) ))|(?<=#)#(?=\w*\[)/gm;
const CI = ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'];

/**
 * The stream, without characters by which text from files and senders could control a terminal, look like another text, or
 * command a CI job: they are escaped as in JSON, so that JSON keeps its meaning.
 */
export function withoutControls<Stream extends Writable>(
  stream: Stream,
  env: NodeJS.ProcessEnv,
  coloured: boolean,
): Stream {
  const isJob = CI.some((name) => (env[name] ?? '') !== '');
  const clean = (text: string): string => {
    const plain = HARMLESS.test(text) ? text : text.replace(coloured ? COLOURED : CONTROLS, asUnits);
    return isJob ? plain.replace(CI_COMMAND, asUnits) : plain;
  };
  return Object.assign(Object.create(stream) as Stream, {
    write: (chunk: unknown, ...more: unknown[]) =>
      Reflect.apply(stream.write, stream, [typeof chunk === 'string' ? clean(chunk) : chunk, ...more]),
  });
}

/** Each UTF-16 unit. */
const asUnits = (text: string): string =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** For `customTags` of yaml: texts with such characters get quotes, so that their escapes keep the meaning. */
export const withEscapedTexts = (tags: Tags): Tags => [ESCAPED_TEXT, ...tags];

const ESCAPED_TEXT: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  identify: (value) => typeof value === 'string' && value.search(CONTROLS) >= 0,
  resolve: (text) => text,
  stringify: ({ value }) => JSON.stringify(value).replace(CONTROLS, asUnits),
};

/** @param width columns of the terminal; a wider word gets its own line. Colours do not count. */
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
 * A label and the text beside it; the following lines are indented to the start of the text.
 * @param width columns of the terminal; without it, the text stays on one line
 */
export function wrapBeside(label: string, text: string, width: number | undefined): string[] {
  if (width === undefined) return [label + text];
  const indent = columnsOf(label);
  return wrapWords(text, width - indent).map((line, at) => (at === 0 ? label : ' '.repeat(indent)) + line);
}

/** Prints a label and the text beside it, wrapped to the terminal. */
export function printBeside(context: CliContext, label: string, text: string): void {
  for (const line of wrapBeside(label, text, terminalWidth(context))) printLine(context, line);
}

const columnsOf = (text: string): number => displayWidth(stripVTControlCharacters(text));

/** Width of a terminal that does not report it, in columns. */
export const DIAGNOSTIC_WIDTH = 100;

/** @param stream the stream they are written to, with its colours and width */
export function formatDiagnostics(
  format: DiagnosticFormat,
  diagnostics: readonly Diagnostic[],
  context: CliContext,
  stream: 'stdout' | 'stderr',
): string {
  const width = context[stream].columns ?? DIAGNOSTIC_WIDTH;
  return printDiagnostics(format, diagnostics, { color: context.colour[stream], width });
}

/** Prints the files read on a terminal, or with diagnostics; a script expects no output if nothing is wrong. */
export function noteFilesRead(context: CliContext, result: CompileResult): void {
  const { files, diagnostics } = result;
  const isAsked = context.stderr.isTTY === true || diagnostics.length > 0;
  if (files.length > 0 && isAsked) printNote(context, `read ${files.join(', ')}`);
  noteIgnored(context, result);
}

/** Names configs that are ignored, because the user may have edited one of them. */
export function noteIgnored(context: CliContext, { files, ignored }: Pick<CompileResult, 'files' | 'ignored'>): void {
  const [used] = files;
  if (used === undefined) return;
  for (const other of ignored) printNote(context, `ignored ${other}, because ${used} is used (see --config)`);
}
