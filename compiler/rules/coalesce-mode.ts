/** Coalescing on a route that runs no agent (§7). */

import { rule } from './support/rule.ts';

const MODE_KEYS = { message: 'agent', direct: 'deliver_only', cron: 'cron_job' } as const;

export const coalesceMode = rule('coalesce-mode', {
  route(route, report) {
    if (route.config.coalesce === undefined || route.mode === 'agent') return;
    const other = MODE_KEYS[route.mode];
    const related = [{ path: [other], message: 'the mode is set here' }];
    const message = `\`coalesce\` works on agent routes only, not together with \`${other === 'agent' ? 'agent: none' : other}\``;
    report({ path: ['coalesce'], at: 'key', message, related });
  },
});
