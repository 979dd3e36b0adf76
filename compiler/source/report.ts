/** Collects the findings of all compiler stages. */

import type { Diagnostic, Finding } from '../diagnostics/diagnostic.ts';
import { diagnose } from '../diagnostics/diagnostic.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import type { Places } from './file-tree.ts';
import { findPlace } from './find-place.ts';

/**
 * Returns the findings in better words, with fixes, and without the consequences of mistakes that it recognises. Findings about
 * nodes are `NodeFinding`s.
 */
export type Tutor = (findings: readonly Finding[]) => readonly Finding[];

export interface Report {
  add(findings: readonly Finding[]): void;
  /** @param base path of the entry that the problems' paths are relative to */
  addProblems(problems: readonly Problem[], tree: Places, base?: NodePath): void;
  /** Sorted, without duplicates. */
  diagnostics(): readonly Diagnostic<RuleId>[];
}

/** @param modules at most one of them has a tutor */
export function createReport(modules: readonly { readonly tutor?: Tutor }[] = []): Report {
  const { tutor } = modules.find((module) => module.tutor) ?? {};
  const findings: Finding[] = [];
  return {
    add(more) {
      for (const finding of more) findings.push(finding);
    },
    addProblems(problems, tree, base = []) {
      for (const problem of problems) findings.push(findPlace(problem, tree, base));
    },
    diagnostics: () => diagnose(tutor?.(findings) ?? findings),
  };
}
