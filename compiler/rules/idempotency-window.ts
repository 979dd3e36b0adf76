/** Delivery ids that are forgotten while the sender may still retry. */

import { printDuration } from './support/duration.ts';
import { rule } from './support/rule.ts';

export const idempotencyWindow = rule('idempotency-window', {
  route({ config, facts }, report) {
    const { idempotency_ttl_seconds: ttl } = config;
    const horizon = facts?.horizon_seconds ?? 0;
    if (ttl === undefined || ttl >= horizon) return;
    const message = `\`${config.source}\` retries for up to ${printDuration(horizon)}; ids are forgotten after ${printDuration(ttl)}`;
    const hint = `remove the key, or set it to ${horizon} or more`;
    report({ path: ['idempotency_ttl_seconds'], at: 'value', message, hint });
  },
});
