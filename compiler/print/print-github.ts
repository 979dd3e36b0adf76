/** Prints diagnostics as GitHub workflow commands, which become annotations in a pull request. */
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { printable } from '../diagnostics/printable.ts';
import { createLines } from './lines.ts';

/** Returns one command per line, or an empty string. */
export function printGithub(diagnostics: readonly Diagnostic[]): string {
  const lines = createLines();
  return diagnostics
    .map(({ source, range, severity, rule, message, hint }) => {
      const { start, end } = lines.spanOf(source, range);
      const oneLine = end.line === start.line;
      const properties = [
        `file=${escapeProperty(source.name)}`,
        `line=${start.line}`,
        `endLine=${end.line}`,
        `col=${start.column}`,
        // GitHub ignores columns of multi-line ranges, and warns about them.
        ...(oneLine ? [`endColumn=${end.column}`] : []),
        `title=${escapeProperty(rule)}`,
      ];
      const text = `${rule}: ${message}${hint === undefined ? '' : `\n${hint}`}`;
      return `::${severity} ${properties.join(',')}::${escapeData(text)}\n`;
    })
    .join('');
}

/** Also removes control characters: build logs are read on terminals, too. */
const escapeData = (text: string): string =>
  printable(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
