/** Diagnostics: what the compiler reports about one position in a file, and the order of reports. */

import type { Range, SourceText } from '../text/source-text.ts';
import type { RuleId, Severity } from './rule.ts';
import { RULES, ruleOf } from './rule.ts';

/**
 * A second position that a diagnostic refers to, such as the first of two definitions.
 *
 * @example
 * ```ts
 * import type { RelatedPlace } from 'hookwright/compiler';
 *
 * const related = ({ source, range, message }: RelatedPlace): string => `${source.name}@${range.start}: ${message}`;
 * ```
 */
export interface RelatedPlace {
  /** The file. */
  readonly source: SourceText;
  /** The position in its text. */
  readonly range: Range;
  /** How the position is related to the diagnostic. */
  readonly message: string;
}

/** A replacement in a file's text. */
export interface TextEdit {
  readonly range: Range;
  readonly text: string;
}

/** A problem with its position in a file. */
export interface Finding {
  /** The rule that reports it. */
  readonly rule: RuleId;
  /** The file. */
  readonly source: SourceText;
  /** The position in its text. */
  readonly range: Range;
  /** What is wrong, and what would be right. For people: it may change between versions, the rule does not. */
  readonly message: string;
  /** How to correct it, if the message does not say so. */
  readonly hint?: string;
  /** Other positions that belong to the problem. */
  readonly related?: readonly RelatedPlace[];
  /** The fix, if there is a safe one: edits of the source's text, in text order, without overlaps. */
  readonly fix?: readonly TextEdit[];
  /** The range covers a secret or its key; printers mask it. */
  readonly sensitive?: boolean;
}

/**
 * A problem with its position in a file, as the compiler reports it. Positions are offsets in UTF-16 code units;
 * `printDiagnostics` computes lines and columns.
 *
 * @example
 * ```ts
 * import type { Diagnostic } from 'hookwright/compiler';
 * import { compileText } from 'hookwright/compiler';
 *
 * const { diagnostics } = await compileText('platforms: []', { home: '/var/lib/app', env: {} });
 * const textOf = ({ source, range }: Diagnostic): string => source.text.slice(range.start, range.end);
 * console.log(diagnostics.map((each) => [each.rule, textOf(each)]));
 * ```
 */
export interface Diagnostic<Id extends string = string> extends Omit<Finding, 'rule'> {
  /** Id of the rule that reports it: a section of docs/rules.md. */
  readonly rule: Id;
  /** An error rejects the config, the route or the job; a warning does not. */
  readonly severity: Severity;
}

/** Converts findings to diagnostics, sorted, without duplicates and without the nodes that they are about. */
export const diagnose = (findings: readonly (Finding & { readonly node?: unknown })[]): readonly Diagnostic<RuleId>[] =>
  sortDiagnostics(findings.map(({ node: _, ...finding }) => ({ ...finding, severity: ruleOf(finding.rule).severity })));

const STRICT: ReadonlySet<string> = new Set(RULES.flatMap(({ id, strict }) => (strict === true ? [id] : [])));

/** `lint --strict`: warnings of rules marked `strict` become errors. */
export const applyStrict = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.map((diagnostic) => (STRICT.has(diagnostic.rule) ? { ...diagnostic, severity: 'error' } : diagnostic));

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((diagnostic) => diagnostic.severity === 'error');

/** Sorts by file, position and rule, and removes duplicates, such as those of a node that two aliases refer to. */
export function sortDiagnostics<Id extends string>(diagnostics: readonly Diagnostic<Id>[]): readonly Diagnostic<Id>[] {
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
