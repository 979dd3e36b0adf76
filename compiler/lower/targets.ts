/** Collects the targets of the catalog: their plans, and the names that `deliver` and `platforms` may use. */
import type { TargetEffect, TargetFile, TargetPlan } from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { lowerTarget } from './target.ts';
import { lowerTargetNames } from './target-names.ts';

/** A lowered target file. Shipped ones are lowered once for all compiles, because checking their patterns is slow. */
export interface CatalogTarget {
  readonly aliases?: readonly string[];
  readonly title: string;
  /** Events that senders send because of a delivery. */
  readonly causes?: readonly TargetEffect[];
  readonly lowered: Lowered<TargetPlan>;
}

export function lowerTargetFile(name: string, file: TargetFile): CatalogTarget {
  const { aliases, causes, title } = file;
  return {
    ...(aliases === undefined ? {} : { aliases }),
    ...(causes === undefined ? {} : { causes }),
    title,
    lowered: lowerTarget(name, file),
  };
}

export interface LoweredTargets {
  readonly targets: Record<string, TargetPlan>;
  /** Canonical names by name and alias; names take precedence over aliases. */
  readonly names: Record<string, string>;
  /** By target name; paths are relative to the target. */
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
}

/** @param catalog targets by canonical name */
export function lowerTargets(catalog: ReadonlyMap<string, CatalogTarget>): LoweredTargets {
  const targets: Record<string, TargetPlan> = {};
  const problems = new Map<string, readonly Problem[]>();
  for (const [name, { lowered }] of catalog) {
    if (lowered.problems.length > 0) problems.set(name, lowered.problems);
    if (lowered.plan !== null) targets[name] = lowered.plan;
  }
  const usable = [...catalog].filter(([name]) => Object.hasOwn(targets, name));
  const names = lowerTargetNames(Object.fromEntries(usable));
  for (const problem of names.problems) {
    const [name, ...path] = problem.path;
    problems.set(String(name), [...(problems.get(String(name)) ?? []), { ...problem, path }]);
  }
  return { targets, names: { ...names.plan }, problems };
}
