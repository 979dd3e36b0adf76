/** A route without a secret (§5.2). */

import type { Problem } from '../diagnostics/problem.ts';
import { isAsymmetric } from '../views/route-scope.ts';
import type { ViewRule } from './support/view-rule.ts';
import { atRoute } from './support/view-rule.ts';

export const routeWithoutSecret = {
  id: 'route-without-secret',
  checkRoute(route): readonly Problem[] {
    if (route.secrets.length > 0 || route.scope.invalidNames.has('setting:secret')) return [];
    if (route.schemes.length > 0 && route.schemes.every(isAsymmetric)) {
      const message = `route \`${route.name}\` has no \`public_key\`, and its source signs with a private one`;
      return [atRoute('route-without-secret', message, 'set `public_key` to the key the sender publishes')];
    }
    const hint = 'set `secret: env:NAME` on the route, or under `platforms.webhook` for all routes';
    return [
      atRoute('route-without-secret', `route \`${route.name}\` has no secret, neither its own nor a global one`, hint),
    ];
  },
} as const satisfies ViewRule;
