/** A key without effect. */
import { routeKey } from '../config/route-keys.ts';
import type { RouteMode } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const noEffect = rule('no-effect', {
  route(route, report) {
    // Two modes at once are an error, so it is open which keys apply.
    if (route.mode === 'cron' && route.config.deliver_only === true) return;
    for (const [key, value] of Object.entries(route.config)) {
      const pinned = key === 'auth' && route.config.source !== undefined ? PINNED : undefined;
      const reason = reasonAgainst(key, route.mode) ?? pinned;
      if (reason === undefined || value === false) continue;
      report({ path: [key], at: 'key', message: `\`${key}\` has no effect here: ${reason}` });
    }
  },
});

const PINNED = '`source` already says how the sender signs';

/** Why the key has no effect in this mode; undefined if it has one. */
const reasonAgainst = (key: string, mode: RouteMode): string | undefined =>
  mode === 'agent' ? undefined : routeKey(key)?.[mode];
