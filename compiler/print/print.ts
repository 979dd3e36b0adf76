/** The output formats of diagnostics, by their `--format` name. */
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { printGithub } from './print-github.ts';
import { printDiagnosticsJson } from './print-json.ts';
import type { PrettyOptions } from './print-pretty.ts';
import { printPretty } from './print-pretty.ts';
import { printSarif } from './print-sarif.ts';

export const DIAGNOSTIC_FORMATS = ['pretty', 'json', 'github', 'sarif'] as const;

export type DiagnosticFormat = (typeof DIAGNOSTIC_FORMATS)[number];

type Printer = (diagnostics: readonly Diagnostic[], options: PrettyOptions) => string;

const PRINTERS: Readonly<Record<DiagnosticFormat, Printer>> = {
  pretty: printPretty,
  json: printDiagnosticsJson,
  github: printGithub,
  sarif: printSarif,
};

/** Returns text that ends with a line break, unless it is empty. The options only affect `pretty`. */
export const printDiagnostics = (
  format: DiagnosticFormat,
  diagnostics: readonly Diagnostic[],
  options: PrettyOptions,
): string => PRINTERS[format](diagnostics, options);
