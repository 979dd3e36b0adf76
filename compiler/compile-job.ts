/** Checks and lowers one job against a table: static jobs, and jobs created at run time. */
import type { JobPlan } from '../schemas/generated/types.ts';
import type { Lowered, Problem } from './diagnostics/problem.ts';
import type { JobEntry } from './lower/job.ts';
import { lowerJob } from './lower/job.ts';
import { RULES } from './rules/registry.ts';
import type { RouteScope } from './views/route-scope.ts';

/** Pure. The plan is null if any problem is an error. Paths of problems are relative to the job. */
export function compileJob(entry: JobEntry, scope: RouteScope): Lowered<JobPlan> {
  const { name, config, profile } = entry;
  const lowered = lowerJob(entry, scope.table);
  const found = RULES.flatMap((rule) => rule.checkJob?.({ name, config, profile, scope }) ?? []);
  const problems = [...found, ...lowered.problems];
  return { plan: hasError(problems) ? null : lowered.plan, problems };
}

const hasError = (problems: readonly Problem[]): boolean => problems.some(({ rule }) => rule.severity === 'error');
