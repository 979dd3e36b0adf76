/** A route that no request can reach (§5.4). */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unreachableRoute = {
  id: 'unreachable-route',
  checkRoute(route): readonly Problem[] {
    if (route.profile === DEFAULT_PROFILE || route.scope.table.gateway.multiplex_profiles) return [];
    const message = `no request reaches this route: it belongs to the profile \`${route.profile}\` and multiplexing is off`;
    const hint = 'set `gateway.multiplex_profiles: true`, or remove `profile`';
    return [{ rule: 'unreachable-route', path: ['profile'], at: 'value', message, hint }];
  },
} as const satisfies ViewRule;
