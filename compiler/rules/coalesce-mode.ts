/** Coalescing on a route that runs no agent (§7). */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const coalesceMode = {
  id: 'coalesce-mode',
  group: 'refusals',
  severity: 'error',
  title: '`coalesce` is set on a `deliver_only` or `cron_job` route.',
  why: 'Coalescing replaces queued agent runs with the latest one. A direct message is delivered while its sender waits, and a job never runs twice at once anyway.',
  checkRoute(route): readonly Problem[] {
    const { coalesce, deliver_only, cron_job } = route.config;
    if (coalesce === undefined) return [];
    const other = deliver_only === true ? 'deliver_only' : cron_job === undefined ? null : 'cron_job';
    if (other === null) return [];
    const related = [{ path: [other], message: 'the mode is set here' }];
    const message = `\`coalesce\` works on agent routes only, not together with \`${other}\``;
    return [{ rule: coalesceMode, path: ['coalesce'], at: 'key', message, related }];
  },
} as const satisfies ViewRule;
