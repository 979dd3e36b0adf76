/** A direct delivery that nothing retries. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const noSecondAttempt = {
  id: 'no-second-attempt',
  checkRoute({ config, facts, mode }): readonly Problem[] {
    if (mode !== 'direct' || facts?.attempts !== 1) return [];
    const message = `\`${config.source}\` never retries a failed delivery: messages that the target rejects are lost`;
    return [{ rule: 'no-second-attempt', path: ['deliver_only'], at: 'key', message }];
  },
} as const satisfies ViewRule;
