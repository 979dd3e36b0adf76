/** Delivery ids that are forgotten while the sender may still retry. */

import type { Problem } from '../diagnostics/problem.ts';
import { printDuration } from './support/duration.ts';
import type { ViewRule } from './support/view-rule.ts';

export const idempotencyWindow = {
  id: 'idempotency-window',
  checkRoute({ config, facts }): readonly Problem[] {
    const { idempotency_ttl_seconds: ttl } = config;
    const horizon = facts?.horizon_seconds ?? 0;
    if (ttl === undefined || ttl >= horizon) return [];
    const message = `\`${config.source}\` retries for up to ${printDuration(horizon)}; ids are forgotten after ${printDuration(ttl)}`;
    const hint = `remove the key, or set it to ${horizon} or more`;
    return [{ rule: 'idempotency-window', path: ['idempotency_ttl_seconds'], at: 'value', message, hint }];
  },
} as const satisfies ViewRule;
