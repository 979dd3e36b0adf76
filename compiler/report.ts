/** Collects what the stages of a compile find, and says at the end whether it is refused. */
import type { Diagnostic, Finding } from './diagnostics/diagnostic.ts';
import { sortDiagnostics } from './diagnostics/diagnostic.ts';
import type { NodePath, Problem } from './diagnostics/problem.ts';
import { severityOf } from './rules/registry.ts';
import type { Places } from './source/file-tree.ts';
import { findPlace } from './source/find-place.ts';

export interface Report {
  add(findings: readonly Finding[]): void;
  /** @param base path of the entry the problems' own paths start from. */
  addProblems(problems: readonly Problem[], tree: Places, base?: NodePath): void;
  /** Sorted, without repetitions. */
  diagnostics(): readonly Diagnostic[];
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
    diagnostics: () => sortDiagnostics(findings.map((finding) => ({ ...finding, severity: severityOf(finding.rule) }))),
  };
}
