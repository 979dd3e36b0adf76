/** A rate limit that the sender is known to exceed. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const rateBelowBurst = {
  id: 'rate-below-burst',
  checkRoute({ config, facts, scope }): readonly Problem[] {
    const burst = facts?.burst_per_minute ?? 0;
    const limit = config.rate_limit ?? scope.table.server.rate_limit;
    if (limit >= burst) return [];
    const message = `\`${config.source}\` is known to send ${burst} requests a minute; this route accepts ${limit}`;
    const path = config.rate_limit === undefined ? ['source'] : ['rate_limit'];
    return [{ rule: 'rate-below-burst', path, at: 'value', message, hint: `set \`rate_limit: ${burst}\` or more` }];
  },
} as const satisfies ViewRule;
