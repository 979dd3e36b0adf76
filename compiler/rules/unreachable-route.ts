/** A route that no request can reach (§5.4). */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { rule } from './support/rule.ts';

export const unreachableRoute = rule('unreachable-route', {
  route(route, report) {
    if (route.profile === DEFAULT_PROFILE || route.scope.table.gateway.multiplex_profiles) return;
    const message = `no request reaches this route: it belongs to the profile \`${route.profile}\` and multiplexing is off`;
    const hint = 'set `gateway.multiplex_profiles: true`, or remove `profile`';
    report({ path: ['profile'], at: 'value', message, hint });
  },
});
