/** A key without effect. */
import type { RouteConfig } from '../../schemas/generated/types.ts';
import { routeKey } from '../config/route-keys.ts';
import type { RouteMode } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const noEffect = rule('no-effect', {
  route(route, report) {
    // Two modes at once are an error, so it is open which keys apply.
    if (route.mode === 'cron' && route.config.deliver_only === true) return;
    for (const [key, value] of Object.entries(route.config)) {
      const pinned = key === 'auth' && route.config.source !== undefined ? PINNED : undefined;
      const reason = reasonAgainst(key, route.mode) ?? pinned ?? withoutStatus(key, route.config);
      if (reason === undefined || value === false) continue;
      report({ path: [key], at: 'key', message: `\`${key}\` has no effect here: ${reason}` });
    }
  },
});

/** Why there is no status to tell of. */
function withoutStatus(key: string, { coalesce, status_url }: RouteConfig): string | undefined {
  if (key === 'status_answer' && status_url !== true) return 'it needs `status_url: true`';
  if (coalesce === undefined || (key !== 'status_url' && key !== 'status_answer')) return undefined;
  return 'the events of a coalesce group have one run, that of the last';
}

const PINNED = '`source` already says how the sender signs';

/** Why the key has no effect in this mode; undefined if it has one. */
const reasonAgainst = (key: string, mode: RouteMode): string | undefined =>
  mode === 'agent' ? undefined : routeKey(key)?.[mode];
