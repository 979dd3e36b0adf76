/** Diagnostics: the problems that checks report about nodes of a file, and the compiler's reports with their positions. */

import type { SCHEMAS } from '../../schemas/built/schemas.ts';
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
  /** States the problem and the correct form, for people. It may change between versions; the rule id does not. */
  readonly message: string;
  /** How to correct it, if the message does not say so. */
  readonly hint?: string;
  /** Other positions that belong to the problem. */
  readonly related?: readonly RelatedPlace[];
  /** The fix, if there is a safe one: edits of the source's text, in text order, without overlaps. */
  readonly fix?: readonly TextEdit[];
  /** The range covers a secret or its key; printers mask it. */
  readonly sensitive?: boolean;
  /** Less certain than its rule: it never fails `lint --strict`. */
  readonly severity?: 'hint';
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
export interface Diagnostic<Id extends string = string> extends Omit<Finding, 'rule' | 'severity'> {
  /** Id of the rule that reports it: a section of docs/rules.md. */
  readonly rule: Id;
  /** An error rejects the config, the route or the job; a warning does not. A hint may be wrong, and fails nothing. */
  readonly severity: Severity | 'hint';
}

/** Converts findings to diagnostics: sorted, without duplicates and nodes. */
export const diagnose = (findings: readonly (Finding & { readonly node?: unknown })[]): readonly Diagnostic<RuleId>[] =>
  sortDiagnostics(findings.map(({ node: _, ...finding }) => ({ severity: ruleOf(finding.rule).severity, ...finding })));

const STRICT: ReadonlySet<string> = new Set(RULES.flatMap(({ id, strict }) => (strict === true ? [id] : [])));

/** `lint --strict`: warnings of rules marked `strict` become errors. */
export const applyStrict = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.map((diagnostic) =>
    STRICT.has(diagnostic.rule) && diagnostic.severity === 'warning'
      ? { ...diagnostic, severity: 'error' }
      : diagnostic,
  );

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

/** Keys and indexes from the file's root to the node. */
export type NodePath = readonly (string | number)[];

/**
 * A safe fix. `rename` replaces the name that `at` (and `within`) point at and keeps its quotes; `replace` inserts
 * the text verbatim; `quote` adds double quotes around the text. The others change the layout: `flow` writes a map or list
 * on one line (and another key after it), `nest` moves a key under new parent keys, `move` moves it into the map of a
 * sibling key, `indent` moves the keys that follow into this one, and `named-items` converts a list of maps with a `name`
 * to a map.
 */
export type Repair =
  | { readonly kind: 'rename' | 'replace'; readonly text: string }
  | { readonly kind: 'quote' }
  | { readonly kind: 'flow'; readonly text: string; readonly andKey?: string | undefined }
  | { readonly kind: 'nest'; readonly under: readonly [string, ...string[]] }
  | { readonly kind: 'move'; readonly into: string }
  | { readonly kind: 'indent'; readonly keys: readonly string[] }
  | { readonly kind: 'named-items' };

export interface Problem {
  readonly rule: RuleId;
  readonly path: NodePath;
  /** Whether the problem points at the node's key (unknown or missing keys) or at its value. */
  readonly at: 'key' | 'value';
  /** UTF-16 offset and length within a scalar's text, to point at a part of it. */
  readonly within?: { readonly offset: number; readonly length: number };
  /** States the problem and what would be correct. */
  readonly message: string;
  readonly hint?: string | undefined;
  /** The value (or the value of the key) may be a secret, so code frames mask it. */
  readonly sensitive?: boolean | undefined;
  /** Set only if the intention is unambiguous; `lint --fix` applies it. */
  readonly fix?: Repair | undefined;
  /** The node that the fix changes, if it is not the one at `path`. */
  readonly fixAt?: NodePath | undefined;
  /** Less certain than its rule. */
  readonly severity?: 'hint' | undefined;
  /** Related positions, such as the other definition of a duplicate. */
  readonly related?: readonly RelatedProblem[];
  /** The schema error that it explains. */
  readonly cause?: SchemaCause;
  /** A text for the tutor, which may find spellings of other tools in it. If `message` is empty, there is no problem otherwise. */
  readonly ask?: string;
}

/** An error as the generated validators report it. */
export interface SchemaError {
  /** JSON pointer into the data. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The key, if the error concerns a name and not a value. */
  readonly propertyName?: string;
}

interface SchemaCause {
  readonly schema: keyof typeof SCHEMAS;
  /** The validated data: one object for all errors of one validation. */
  readonly data: unknown;
  readonly error: SchemaError;
  /** The message, before a stage adds to it. */
  readonly message: string;
}

/** Its range is the key, or the part of the value. `root`: the path starts at the root of the config, not at the route. */
export type RelatedProblem = Pick<Problem, 'path' | 'within' | 'message'> & { readonly root?: true };

/** A plan that exists whatever the problems are. */
export interface Planned<T> {
  readonly plan: T;
  readonly problems: readonly Problem[];
}

/** A plan, or null if a problem of severity error prevents it. */
export type Lowered<T> = Planned<T | null>;

/** The problem of a part, with paths that begin at the whole. @param base path of the part */
export const inside = <P extends Pick<Problem, 'path' | 'fixAt'>>(base: NodePath, problem: P): P => ({
  ...problem,
  path: [...base, ...problem.path],
  ...(problem.fixAt === undefined ? {} : { fixAt: [...base, ...problem.fixAt] }),
});

/** Collects the problems of a part of the config and returns its plan, so that no problem is dropped. */
export type Take = <T>(part: Planned<T>, path: NodePath) => T;

export const takeInto =
  (problems: Problem[]): Take =>
  (part, path) => {
    problems.push(...part.problems.map((problem) => inside(path, problem)));
    return part.plan;
  };
