/** A response that may come after the sender's timeout. */

import type { Problem } from '../diagnostics/problem.ts';
import { printDuration } from './support/duration.ts';
import type { ViewRule } from './support/view-rule.ts';

export const slowDirectDelivery = {
  id: 'slow-direct-delivery',
  checkRoute({ config, facts, mode, scope }): readonly Problem[] {
    const deadline = facts?.deadline_seconds ?? null;
    const { direct_timeout_seconds: timeout } = scope.table.server;
    if (mode !== 'direct' || deadline === null || timeout <= deadline) return [];
    const message = `\`${config.source}\` waits ${printDuration(deadline)} for an answer; a direct delivery may take ${printDuration(timeout)}`;
    const hint = `set \`direct_timeout_seconds\` below ${deadline}`;
    return [{ rule: 'slow-direct-delivery', path: ['deliver_only'], at: 'key', message, hint }];
  },
} as const satisfies ViewRule;
