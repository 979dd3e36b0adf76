/** Coalescing on a route that runs no agent (§7). */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const coalesceMode = {
  id: 'coalesce-mode',
  checkRoute(route): readonly Problem[] {
    const { coalesce, deliver_only, cron_job } = route.config;
    if (coalesce === undefined) return [];
    const other = deliver_only === true ? 'deliver_only' : cron_job === undefined ? null : 'cron_job';
    if (other === null) return [];
    const related = [{ path: [other], message: 'the mode is set here' }];
    const message = `\`coalesce\` works on agent routes only, not together with \`${other}\``;
    return [{ rule: 'coalesce-mode', path: ['coalesce'], at: 'key', message, related }];
  },
} as const satisfies ViewRule;
