/** The formats in which diagnostics can be printed, by the name `--format` takes. */
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

/** Ends with a line break unless it is empty. The options concern `pretty` alone. */
export const printDiagnostics = (
  format: DiagnosticFormat,
  diagnostics: readonly Diagnostic[],
  options: PrettyOptions,
): string => PRINTERS[format](diagnostics, options);
