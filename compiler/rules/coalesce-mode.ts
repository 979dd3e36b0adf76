/** Coalescing on a route that runs no agent (§7). */

import { rule } from './support/rule.ts';

export const coalesceMode = rule('coalesce-mode', {
  route(route, report) {
    const { coalesce, deliver_only, cron_job } = route.config;
    if (coalesce === undefined) return;
    const other = deliver_only === true ? 'deliver_only' : cron_job === undefined ? null : 'cron_job';
    if (other === null) return;
    const related = [{ path: [other], message: 'the mode is set here' }];
    const message = `\`coalesce\` works on agent routes only, not together with \`${other}\``;
    report({ path: ['coalesce'], at: 'key', message, related });
  },
});
