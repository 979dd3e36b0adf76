/** What the texts of a target file may name, and where their problems go. */

import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { TargetAddressField, TargetSetting } from '../../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../../diagnostics/problem.ts';
import type { Rule } from '../../diagnostics/rule.ts';
import { targetPattern } from '../../rules/target-pattern.ts';

export interface TargetScope {
  readonly settings: Readonly<Record<string, TargetSetting>>;
  readonly address: Readonly<Record<string, TargetAddressField>>;
  /** Named groups of the request's `when.chat_id`. */
  readonly groups: readonly string[];
  readonly has: { readonly exchange: boolean; readonly signature: boolean };
  readonly report: (problem: Problem) => void;
}

export function reportValue(scope: TargetScope, rule: Rule, path: NodePath, message: string): void {
  scope.report({ rule, path, at: 'value', message });
}

/** The pattern as written when it is valid RE2, else null and a problem. */
export function lowerPattern(pattern: string, path: NodePath, scope: TargetScope): string | null {
  try {
    RE2JS.compile(pattern);
    return pattern;
  } catch (error) {
    const why = error instanceof RE2JSSyntaxException ? error.getDescription() : 'not understood';
    reportValue(scope, targetPattern, path, `${JSON.stringify(pattern)} is not an RE2 expression: ${why}`);
    return null;
  }
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
