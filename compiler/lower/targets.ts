/** Lowers every target of the catalog: the plans of the table, and what `deliver` and `platforms` may call them. */
import type { TargetFile, TargetPlan } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { lowerTargetNames } from './binding.ts';
import { lowerTarget } from './target.ts';

export interface LoweredTargets {
  readonly targets: Record<string, TargetPlan>;
  /** Canonical names by every name; names win over aliases. */
  readonly names: Record<string, string>;
  /** By target file; paths are relative to it. */
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
}

/** @param files target files by canonical name. */
export function lowerTargets(files: ReadonlyMap<string, TargetFile>): LoweredTargets {
  const targets: Record<string, TargetPlan> = {};
  const problems = new Map<string, readonly Problem[]>();
  for (const [name, file] of files) {
    const lowered = lowerTarget(name, file);
    if (lowered.problems.length > 0) problems.set(name, lowered.problems);
    if (lowered.plan === null) continue;
    targets[name] = lowered.plan;
  }
  const usable = [...files].filter(([name]) => Object.hasOwn(targets, name));
  const names = lowerTargetNames(Object.fromEntries(usable));
  for (const problem of names.problems) {
    const [name, ...path] = problem.path;
    problems.set(String(name), [...(problems.get(String(name)) ?? []), { ...problem, path }]);
  }
  return { targets, names: { ...names.plan }, problems };
}
