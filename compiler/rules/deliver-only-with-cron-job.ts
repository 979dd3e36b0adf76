/** A route with two modes (§7). */

import { rule } from './support/rule.ts';

export const deliverOnlyWithCronJob = rule('deliver-only-with-cron-job', {
  route(route, report) {
    const { deliver_only, cron_job } = route.config;
    if (deliver_only !== true || cron_job === undefined) return;
    const related = [{ path: ['cron_job'], message: 'the job is named here' }];
    const message = '`deliver_only` and `cron_job` exclude each other; keep one of them';
    report({ path: ['deliver_only'], at: 'key', message, related });
  },
});
