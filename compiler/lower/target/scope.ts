/** What the texts of a target file may name, and where their problems go. */

import { RE2JS } from 're2js';
import type { TextScope } from '../../config/target-scope.ts';
import type { NodePath, Problem } from '../../diagnostics/problem.ts';
import { targetPattern } from '../../rules/target-pattern.ts';

export interface TargetScope extends TextScope {
  readonly report: (problem: Problem) => void;
}

/** The pattern as written when it is valid RE2, else null and a problem. */
export function lowerPattern(pattern: string, path: NodePath, scope: TargetScope): string | null {
  const { plan, problems } = targetPattern.check(pattern, path);
  problems.forEach(scope.report);
  return plan;
}

/** Names of the groups of a pattern, `(?P<name>…)` or `(?<name>…)`. */
export function groupNames(pattern: string): string[] {
  return [...pattern.matchAll(/\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>/g)].map((match) => match[1] ?? '');
}

/** A dotted path, split; `.` is the value itself. */
export function splitPath(path: string): string[] {
  return path === '.' ? [] : path.split('.');
}

/** Whether the whole text matches a valid pattern. */
export function fullMatch(pattern: string, text: string): boolean {
  return RE2JS.matches(pattern, text);
}
