/** A message that is the whole payload, because no prompt is set. */

import type { Problem } from '../diagnostics/problem.ts';
import { oneOf } from '../text/suggest.ts';
import { KEEPING_TARGETS } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';

export const wholePayloadMessage = {
  id: 'whole-payload-message',
  checkRoute({ mode, config, targets }): readonly Problem[] {
    const real = targets.filter(({ target }) => target !== null && !KEEPING_TARGETS.has(target));
    if (mode !== 'direct' || config.prompt !== undefined || real.length === 0) return [];
    const to = oneOf(
      real.map(({ name }) => name),
      'and',
    );
    const message = `no \`prompt\`: the whole payload goes to ${to}`;
    const hint = 'write the message, e.g. `prompt: "{title}"`; `prompt: "{__raw__}"` if you want the whole payload';
    return [{ rule: 'whole-payload-message', path: ['deliver_only'], at: 'key', message, hint }];
  },
} as const satisfies ViewRule;
