/** Collects the findings of all compiler stages. */

import type { Diagnostic, Finding } from '../diagnostics/diagnostic.ts';
import { diagnose } from '../diagnostics/diagnostic.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { Places } from './file-tree.ts';
import { findPlace } from './find-place.ts';

export interface Report {
  add(findings: readonly Finding[]): void;
  /** @param base path of the entry that the problems' paths are relative to */
  addProblems(problems: readonly Problem[], tree: Places, base?: NodePath): void;
  /** Sorted, without duplicates. */
  diagnostics(): readonly Diagnostic<RuleId>[];
}

export function createReport(): Report {
  const findings: Finding[] = [];
  return {
    add(more) {
      for (const finding of more) findings.push(finding);
    },
    addProblems(problems, tree, base = []) {
      for (const problem of problems) findings.push(findPlace(problem, tree, base));
    },
    diagnostics: () => diagnose(findings),
  };
}
