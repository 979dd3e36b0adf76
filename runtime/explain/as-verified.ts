/** A route for a request whose signature was verified on arrival: what verifying it again would need is not kept. */
import type { LinkedRoute } from '../table/linked-table.ts';
import type { Verification } from '../verify/verification.ts';

/** @param scheme the one it was right by; a route that does not accept it (any more) refuses the request */
export function asVerified(route: LinkedRoute, scheme: string): LinkedRoute {
  if (route.insecure) return route;
  const isAccepted = route.authenticator.schemes.some(({ name }) => name === scheme);
  const verification: Verification = isAccepted
    ? { ok: true, scheme, secret: 0 }
    : { ok: false, scheme: null, reason: 'missing_signature' };
  const authenticator = { ...route.authenticator, authenticate: () => verification, refuseUnsigned: () => null };
  return { ...route, authenticator };
}
