/** The context in which texts of a target file are lowered. */

import { RE2JSSyntaxException } from 're2js';
import type { TargetVariant } from '../../../schemas/generated/types.ts';
import type { TextScope } from '../../config/target-scope.ts';
import type { NodePath, Problem } from '../../diagnostics/problem.ts';
import { linearRegex } from '../../text/linear-regex.ts';

export interface TargetScope extends TextScope {
  /** Of all requests of the variant. */
  readonly headers: NonNullable<TargetVariant['headers']>;
  readonly report: (problem: Problem) => void;
}

/** Returns the pattern if it is valid RE2; else reports a problem and returns null. */
export function lowerPattern(pattern: string, path: NodePath, scope: TargetScope): string | null {
  try {
    linearRegex(pattern);
    return pattern;
  } catch (error) {
    const why = error instanceof RE2JSSyntaxException ? error.getDescription() : 'not understood';
    const message = `${JSON.stringify(pattern)} is not an RE2 expression: ${why}`;
    scope.report({ rule: 'target-pattern', path, at: 'value', message });
    return null;
  }
}

/** Names of the groups in a pattern, `(?P<name>…)` or `(?<name>…)`. */
export function groupNames(pattern: string): string[] {
  return [...pattern.matchAll(/\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>/g)].map((match) => match[1] ?? '');
}

/** Splits a dotted path; `.` is the value itself. */
export function splitPath(path: string): string[] {
  return path === '.' ? [] : path.split('.');
}

/** Whether the whole text matches a valid pattern. */
export function fullMatch(pattern: string, text: string): boolean {
  return linearRegex(pattern).matches(text);
}
