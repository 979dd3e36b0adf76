/** Prints diagnostics as SARIF 2.1.0, for code scanning services. */
import { pathToFileURL } from 'node:url';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Rule } from '../diagnostics/rule.ts';
import { RULES } from '../diagnostics/rule.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';

const INDEX: ReadonlyMap<string, number> = new Map(RULES.map((rule, index) => [rule.id, index]));

/** Lists every rule, so that services can show what was checked. Omits source text, which may contain secrets. */
export function printSarif(diagnostics: readonly Diagnostic[]): string {
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
    level: severity,
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
