/** A direct delivery that nothing retries. */

import { rule } from './support/rule.ts';

export const noSecondAttempt = rule('no-second-attempt', {
  route({ config, facts, mode }, report) {
    if (mode !== 'direct' || facts?.attempts !== 1) return;
    const message = `\`${config.source}\` never retries a failed delivery: messages that the target rejects are lost`;
    const hint = '`agent: none` instead of `deliver_only` stores the message and retries its delivery';
    report({ path: ['deliver_only'], at: 'key', message, hint });
  },
});
