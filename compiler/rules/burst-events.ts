/** Bursts that are kept whole and not listed, or listed and not kept (decisions §11). */
import { EVENTS, keepsAll } from '../config/burst.ts';
import { rule } from './support/rule.ts';

export const burstEvents = rule('burst-events', {
  route(route, report) {
    const { config, scope, mode } = route;
    const { coalesce, prompt = '' } = config;
    if (coalesce === undefined || mode !== 'agent') return;
    const offset = prompt.indexOf(EVENTS);
    if (keepsAll(config)) {
      const message = `the events of a burst are kept, and the prompt has no \`${EVENTS}\`: its run gets the latest alone`;
      const hint = `write \`${EVENTS}\` in the prompt where the list belongs`;
      if (offset < 0) report({ path: ['coalesce', 'keep'], at: 'value', message, hint });
      return;
    }
    const hint = 'write `keep: all` beside `key`';
    for (const key of ['each', 'max_events'] as const) {
      if (coalesce[key] === undefined) continue;
      report({ path: ['coalesce', key], at: 'key', message: `\`${key}\` needs \`keep: all\``, hint });
    }
    // A sender may have a field of that name.
    if (offset < 0 || scope.payloads?.isAlwaysSent(route, ['events']) === true) return;
    const message = `\`${EVENTS}\` is the list of a burst's events only with \`keep: all\`: here it is a field of the payload`;
    const within = { offset, length: EVENTS.length };
    report({ path: ['prompt'], at: 'value', within, message, hint: 'write `keep: all` in `coalesce`' });
  },
});
