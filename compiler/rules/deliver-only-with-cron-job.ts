/** A route with two modes (§7). */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const deliverOnlyWithCronJob = {
  id: 'deliver-only-with-cron-job',
  checkRoute(route): readonly Problem[] {
    const { deliver_only, cron_job } = route.config;
    if (deliver_only !== true || cron_job === undefined) return [];
    const related = [{ path: ['cron_job'], message: 'the job is named here' }];
    const message = '`deliver_only` and `cron_job` exclude each other; keep one of them';
    return [{ rule: 'deliver-only-with-cron-job', path: ['deliver_only'], at: 'key', message, related }];
  },
} as const satisfies ViewRule;
