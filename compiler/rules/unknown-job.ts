/** A job that does not exist (§2.1). */

import type { Problem } from '../diagnostics/problem.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import { findJobs, jobsOf } from '../views/find-job.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownJob = {
  id: 'unknown-job',
  checkRoute(route): readonly Problem[] {
    const { cron_job } = route.config;
    if (cron_job === undefined || route.scope.invalidNames.has(`job:${cron_job}`)) return [];
    const found = findJobs(route, cron_job);
    if (found.length === 1) return [];
    const names = jobsOf(route).map(({ name }) => name);
    const message =
      found.length === 0
        ? `there is no job \`${cron_job}\`${didYouMean(cron_job, names)}`
        : `${found.length} jobs are called \`${cron_job}\`; name one by its id`;
    const hint =
      found.length > 0
        ? undefined
        : names.length === 0
          ? 'write it under `jobs`, with a `schedule` and a `prompt`'
          : `jobs of this profile: ${oneOf(names, 'and')}`;
    return [
      {
        rule: 'unknown-job',
        path: ['cron_job'],
        at: 'value',
        message,
        ...(hint === undefined ? {} : { hint }),
        ...(found.length === 0 ? renameFix(cron_job, names) : {}),
      },
    ];
  },
} as const satisfies ViewRule;
