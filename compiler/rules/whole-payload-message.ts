/** A message that is the whole payload, because no prompt is set. */

import { oneOf } from '../text/suggest.ts';
import { rule } from './support/rule.ts';
import { KEEPING_TARGETS } from './support/targets.ts';

export const wholePayloadMessage = rule('whole-payload-message', {
  route({ mode, config, targets }, report) {
    const real = targets.filter(({ target }) => target !== null && !KEEPING_TARGETS.has(target));
    const key = mode === 'direct' ? 'deliver_only' : 'agent';
    if ((mode !== 'direct' && mode !== 'message') || config.prompt !== undefined || real.length === 0) return;
    const to = oneOf(
      real.map(({ name }) => name),
      'and',
    );
    const message = `no \`prompt\`: the whole payload goes to ${to}`;
    const hint = 'write the message, e.g. `prompt: "{title}"`; `prompt: "{__raw__}"` if you want the whole payload';
    report({ path: [key], at: 'key', message, hint });
  },
});
