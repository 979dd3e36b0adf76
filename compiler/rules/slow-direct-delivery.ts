/** A response that may come after the sender's timeout. */

import { printDuration } from './support/duration.ts';
import { rule } from './support/rule.ts';

export const slowDirectDelivery = rule('slow-direct-delivery', {
  route({ config, facts, mode, scope }, report) {
    const deadline = facts?.deadline_seconds ?? null;
    const { direct_timeout_seconds: timeout } = scope.table.server;
    if (mode !== 'direct' || deadline === null || timeout <= deadline) return;
    const message = `\`${config.source}\` waits ${printDuration(deadline)} for an answer; a direct delivery may take ${printDuration(timeout)}`;
    const hint = `set \`direct_timeout_seconds\` below ${deadline}`;
    report({ path: ['deliver_only'], at: 'key', message, hint });
  },
});
