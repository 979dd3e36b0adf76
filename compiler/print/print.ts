/** The output formats of diagnostics, by their `--format` name. */
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { printGithub } from './print-github.ts';
import { printDiagnosticsJson } from './print-json.ts';
import type { PrettyOptions } from './print-pretty.ts';
import { printPretty } from './print-pretty.ts';
import { printSarif } from './print-sarif.ts';

/**
 * The output formats of `printDiagnostics`.
 *
 * @example
 * ```ts
 * import { DIAGNOSTIC_FORMATS } from 'hookwright/compiler';
 *
 * const isFormat = (text: string): boolean => DIAGNOSTIC_FORMATS.some((format) => format === text);
 * console.log(isFormat('sarif'));
 * ```
 */
export const DIAGNOSTIC_FORMATS = ['pretty', 'json', 'github', 'sarif'] as const;

/**
 * An output format of diagnostics. `pretty`: text with code frames; `json`: an array; `github`: workflow commands of GitHub
 * Actions; `sarif`: a SARIF 2.1.0 log.
 *
 * @example
 * ```ts
 * import type { DiagnosticFormat } from 'hookwright/compiler';
 *
 * const formatFor = (isTerminal: boolean): DiagnosticFormat => (isTerminal ? 'pretty' : 'json');
 * ```
 */
export type DiagnosticFormat = (typeof DIAGNOSTIC_FORMATS)[number];

type Printer = (diagnostics: readonly Diagnostic[], options: PrettyOptions) => string;

const PRINTERS: Readonly<Record<DiagnosticFormat, Printer>> = {
  pretty: printPretty,
  json: printDiagnosticsJson,
  github: printGithub,
  sarif: printSarif,
};

/**
 * Prints diagnostics. Secrets in the quoted lines are masked.
 *
 * @param format the output format
 * @param diagnostics the diagnostics, in the order in which they are printed
 * @param options only for `pretty`: `color` with ANSI colours, `width` of the terminal in columns
 * @returns text that ends with a line break, unless it is empty
 *
 * @example
 * ```ts
 * import { compileText, printDiagnostics } from 'hookwright/compiler';
 *
 * const { diagnostics } = await compileText('platforms: []', { home: '/var/lib/app', env: {} });
 * process.stderr.write(printDiagnostics('github', diagnostics, { color: false, width: 80 }));
 * ```
 */
export const printDiagnostics = (
  format: DiagnosticFormat,
  diagnostics: readonly Diagnostic[],
  options: PrettyOptions,
): string => PRINTERS[format](diagnostics, options);
