/** Collects what the stages of a compile find, and says at the end whether it is refused. */
import type { Diagnostic, Finding } from './diagnostics/diagnostic.ts';
import { diagnose } from './diagnostics/diagnostic.ts';
import type { NodePath, Problem } from './diagnostics/problem.ts';
import type { RuleId } from './rules/registry.ts';
import type { Places } from './source/file-tree.ts';
import { findPlace } from './source/find-place.ts';

export interface Report {
  add(findings: readonly Finding[]): void;
  /** @param base path of the entry the problems' own paths start from. */
  addProblems(problems: readonly Problem[], tree: Places, base?: NodePath): void;
  /** Sorted, without repetitions. */
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
    // What the compiler's stages report is a rule of the registry: it is the folder.
    diagnostics: () => diagnose(findings) as readonly Diagnostic<RuleId>[],
  };
}
