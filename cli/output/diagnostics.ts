/** Diagnostics in the form that was asked for. */
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts';
import { printGithub } from '../../compiler/print/print-github.ts';
import { printJson } from '../../compiler/print/print-json.ts';
import { printPretty } from '../../compiler/print/print-pretty.ts';
import { printSarif } from '../../compiler/print/print-sarif.ts';
import type { CliContext } from '../base/context.ts';

export const DIAGNOSTIC_FORMATS = ['pretty', 'json', 'github', 'sarif'] as const;
export type DiagnosticFormat = (typeof DIAGNOSTIC_FORMATS)[number];

/** Columns of a terminal that does not say how many it has. */
export const DIAGNOSTIC_WIDTH = 100;

/** @param stream the one they will be written to: its colours and its width count */
export function formatDiagnostics(
  format: DiagnosticFormat,
  diagnostics: readonly Diagnostic[],
  context: CliContext,
  stream: 'stdout' | 'stderr',
): string {
  switch (format) {
    case 'pretty':
      return printPretty(diagnostics, {
        color: context.colour[stream],
        width: context[stream].columns ?? DIAGNOSTIC_WIDTH,
      });
    case 'json':
      return printJson(diagnostics);
    case 'github':
      return printGithub(diagnostics);
    case 'sarif':
      return printSarif(diagnostics);
  }
}
