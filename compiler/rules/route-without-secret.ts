/** A route without a secret (§5.2). */

import { isAsymmetric } from '../views/view-route.ts';
import { rule } from './support/rule.ts';

export const routeWithoutSecret = rule('route-without-secret', {
  route(route, report) {
    if (route.secrets.length > 0 || route.scope.invalidNames.has('setting:secret')) return;
    if (route.schemes.length > 0 && route.schemes.every(isAsymmetric)) {
      const message = `route \`${route.name}\` has no \`public_key\`, and its source signs with a private one`;
      report({ path: [], at: 'key', message, hint: 'set `public_key` to the key the sender publishes' });
      return;
    }
    const hint = 'set `secret: env:NAME` on the route, or under `platforms.webhook` for all routes';
    const message = `route \`${route.name}\` has no secret, neither its own nor a global one`;
    report({ path: [], at: 'key', message, hint });
  },
});
