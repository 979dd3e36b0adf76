/** A rate limit that the sender is known to exceed. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const rateBelowBurst = {
  id: 'rate-below-burst',
  group: 'senders',
  severity: 'warning',
  title: "`rate_limit` is lower than the number of requests that the route's source is known to send in a minute.",
  why: 'The rest of a burst is answered 429, and not every sender retries after that.',
  checkRoute({ config, facts, scope }): readonly Problem[] {
    const burst = facts?.burst_per_minute ?? 0;
    const limit = config.rate_limit ?? scope.table.server.rate_limit;
    if (limit >= burst) return [];
    const message = `\`${config.source}\` is known to send ${burst} requests a minute; this route accepts ${limit}`;
    const path = config.rate_limit === undefined ? ['source'] : ['rate_limit'];
    return [{ rule: rateBelowBurst, path, at: 'value', message, hint: `set \`rate_limit: ${burst}\` or more` }];
  },
} as const satisfies ViewRule;
