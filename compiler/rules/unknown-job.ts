/** A job that does not exist (§2.1). */

import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import { findJobs, jobsOf } from '../views/find-job.ts';
import { rule } from './support/rule.ts';

export const unknownJob = rule('unknown-job', {
  route(route, report) {
    const { cron_job } = route.config;
    if (cron_job === undefined || route.scope.invalidNames.has(`job:${cron_job}`)) return;
    const found = findJobs(route, cron_job);
    if (found.length === 1) return;
    const names = jobsOf(route).map(({ name }) => name);
    const at = { path: ['cron_job'], at: 'value' } as const;
    if (found.length > 1) {
      report({ ...at, message: `${found.length} jobs are called \`${cron_job}\`; name one by its id` });
      return;
    }
    const message = `there is no job \`${cron_job}\`${didYouMean(cron_job, names)}`;
    const hint =
      names.length === 0
        ? 'write it under `jobs`, with a `schedule` and a `prompt`'
        : `jobs of this profile: ${oneOf(names, 'and')}`;
    report({ ...at, message, hint, ...renameFix(cron_job, names) });
  },
});
