/** A rate limit that the sender is known to exceed. */

import { rule } from './support/rule.ts';

export const rateBelowBurst = rule('rate-below-burst', {
  route({ config, facts, scope }, report) {
    const burst = facts?.burst_per_minute ?? 0;
    const limit = config.rate_limit ?? scope.table.server.rate_limit;
    if (limit >= burst) return;
    const message = `\`${config.source}\` is known to send ${burst} requests a minute; this route accepts ${limit}`;
    const path = config.rate_limit === undefined ? ['source'] : ['rate_limit'];
    report({ path, at: 'value', message, hint: `set \`rate_limit: ${burst}\` or more` });
  },
});
