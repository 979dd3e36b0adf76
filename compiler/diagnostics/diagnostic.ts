/** What the compiler says about one place in a file, and the order in which it says it. */

import type { Range, SourceText } from '../text/source-text.ts';
import type { Rule, Severity } from './rule.ts';

export interface RelatedPlace {
  readonly source: SourceText;
  readonly range: Range;
  readonly message: string;
}

/** A change of a file's text. */
export interface TextEdit {
  readonly range: Range;
  readonly text: string;
}

/** A problem with its place found. */
export interface Finding {
  readonly rule: Rule;
  readonly source: SourceText;
  readonly range: Range;
  /** The part of the range that a code frame underlines. */
  readonly focus?: Range;
  readonly message: string;
  readonly hint?: string;
  readonly related?: readonly RelatedPlace[];
  /** The repair, where it is certain: changes of the source's text in its order, which do not overlap. */
  readonly fix?: readonly TextEdit[];
  /** The range covers a secret, or the key of one: printers do not repeat it. */
  readonly sensitive?: boolean;
}

/** A finding as it is handed out. */
export interface Diagnostic<Id extends string = string> extends Omit<Finding, 'rule'> {
  readonly rule: Id;
  readonly severity: Severity;
}

/** Sorted, without repetitions. */
export const diagnose = (findings: readonly Finding[]): readonly Diagnostic[] =>
  sortDiagnostics(findings.map((finding) => ({ ...finding, rule: finding.rule.id, severity: finding.rule.severity })));

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((diagnostic) => diagnostic.severity === 'error');

/** Sorted by file, place and rule; the same thing said twice about one place (through two aliases) is said once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics
    .filter((diagnostic) => {
      const { source, range, rule, message } = diagnostic;
      const key = JSON.stringify([source.path, range.start, range.end, rule, message]);
      return seen.has(key) ? false : seen.add(key) !== null;
    })
    .sort(byPlace);
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (
    byText(a.source.name, b.source.name) ||
    a.range.start - b.range.start ||
    a.range.end - b.range.end ||
    byText(a.rule, b.rule) ||
    byText(a.message, b.message)
  );
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
