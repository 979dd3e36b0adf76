/** Checks and lowers one job against a table: static jobs, and jobs created at run time. */
import type { JobPlan } from '../../schemas/generated/types.ts';
import type { Lowered } from '../diagnostics/problem.ts';
import { isError } from '../diagnostics/rule.ts';
import type { JobEntry } from '../lower/job.ts';
import { lowerJob } from '../lower/job.ts';
import { applyRules } from '../rules/support/rule.ts';
import type { RouteScope } from '../views/views.ts';
import { checkOutputs } from './check-outputs.ts';

/** Pure. The plan is null if any problem is an error. Paths of problems are relative to the job. */
export function compileJob(entry: JobEntry, scope: RouteScope): Lowered<JobPlan> {
  const { name, config, profile } = entry;
  const lowered = lowerJob(entry, scope.table);
  const view = { name, config, profile, scope };
  const problems = [...applyRules(scope.rules, 'job', view), ...checkOutputs(view), ...lowered.problems];
  return { plan: problems.some(isError) ? null : lowered.plan, problems };
}
