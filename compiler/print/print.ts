/** The output formats of diagnostics, by their `--format` name: JSON, GitHub annotations and SARIF are here. */

import { pathToFileURL } from 'node:url';
import { escapeInvisible } from '../../base/text.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Rule } from '../diagnostics/rule.ts';
import { RULES } from '../diagnostics/rule.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';
import type { PrettyOptions } from './print-pretty.ts';
import { messageLine, printPretty, worst } from './print-pretty.ts';

/** The number of errors, and the first one with its position, in one line; null if there are none. */
export function describeErrors(diagnostics: readonly Diagnostic[]): string | null {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return null;
  const { line, column } = createLines().positionOf(first.source, first.range.start);
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors, the first`;
  return `the configuration has ${count}: ${first.source.name}:${line}:${column}: ${escapeInvisible(first.message)}`;
}

/** Returns one command per line, or an empty string. */
export function printGithub(diagnostics: readonly Diagnostic[]): string {
  const lines = createLines();
  const shown = worst(diagnostics);
  const hidden = diagnostics.length - shown.length;
  const more = hidden === 0 ? '' : `::notice::${hidden} more problems: hookwright lint --format json\n`;
  return `${shown
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
      const text = [`${rule}: ${message}`, ...(hint === undefined ? [] : [hint])].map(escapeData).join('%0A');
      return `::${severity === 'hint' ? 'notice' : severity} ${properties.join(',')}::${text}\n`;
    })
    .join('')}${more}`;
}

/** Also removes control characters: build logs are read on terminals, too. */
const escapeData = (text: string): string => messageLine(text).replaceAll('%', '%25');

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** Returns indented JSON that ends with a line break. */
function printDiagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return `${JSON.stringify(diagnosticRecords(diagnostics), null, 2)}\n`;
}

/** Lines and columns are 1-based; columns count UTF-16 code units; the end is exclusive. */
export function diagnosticRecords(diagnostics: readonly Diagnostic[]) {
  const lines = createLines();
  return diagnostics.map(({ source, range, severity, rule, message, hint, related, fix }) => ({
    rule,
    severity,
    ...place(source, range, lines),
    message,
    hint: hint ?? null,
    fix: fix?.map((edit) => ({ ...place(source, edit.range, lines), text: edit.text })) ?? null,
    related: (related ?? []).map((other) => ({ ...place(other.source, other.range, lines), message: other.message })),
  }));
}

function place(source: SourceText, range: Range, lines: Lines) {
  const { start, end } = lines.spanOf(source, range);
  return { file: source.name, line: start.line, column: start.column, end_line: end.line, end_column: end.column };
}

const INDEX: ReadonlyMap<string, number> = new Map(RULES.map((rule, index) => [rule.id, index]));

/** Lists every rule, so that services can show what was checked. Omits source text, which may contain secrets. */
function printSarif(diagnostics: readonly Diagnostic[]): string {
  const lines = createLines();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'hookwright', rules: RULES.map(describeRule) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => describeResult(diagnostic, lines)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

const describeRule = ({ id, severity, title, why }: Rule) => ({
  id,
  shortDescription: { text: title },
  fullDescription: { text: why },
  help: { text: why, markdown: why },
  defaultConfiguration: { level: severity },
});

function describeResult({ rule, severity, source, range, message, hint, related = [] }: Diagnostic, lines: Lines) {
  return {
    ruleId: rule,
    ruleIndex: INDEX.get(rule) ?? -1,
    level: severity === 'hint' ? 'note' : severity,
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    locations: [{ physicalLocation: physicalLocation(source, range, lines) }],
    ...(related.length === 0
      ? {}
      : {
          relatedLocations: related.map((place, id) => ({
            id,
            message: { text: place.message },
            physicalLocation: physicalLocation(place.source, place.range, lines),
          })),
        }),
  };
}

function physicalLocation(source: SourceText, range: Range, lines: Lines) {
  const { start, end } = lines.spanOf(source, range);
  return {
    artifactLocation: { uri: uriOf(source) },
    region: { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column },
  };
}

/** Relative to the working directory, as code scanning requires; absolute for files outside it. */
const uriOf = ({ name, path }: SourceText): string =>
  name === path ? pathToFileURL(path).href : name.split('/').map(encodeURIComponent).join('/');

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
