/** A direct delivery that nothing retries. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const noSecondAttempt = {
  id: 'no-second-attempt',
  group: 'senders',
  severity: 'warning',
  title: 'A `deliver_only` route has a sender that never retries.',
  why: 'A failed direct delivery is answered 502, and the sender is expected to retry. This one does not, so the event is lost. On an agent route, the event is stored before it is answered, and hookwright retries its delivery.',
  checkRoute({ config, facts, mode }): readonly Problem[] {
    if (mode !== 'direct' || facts?.attempts !== 1) return [];
    const message = `\`${config.source}\` never retries a failed delivery: messages that the target rejects are lost`;
    return [{ rule: noSecondAttempt, path: ['deliver_only'], at: 'key', message }];
  },
} as const satisfies ViewRule;
