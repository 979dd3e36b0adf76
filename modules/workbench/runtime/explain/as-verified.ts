/** Adapts a route to a request whose signature was verified on arrival, because credentials are not kept. */
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { Verification } from '../../../../runtime/verify/verification.ts';

/** @param scheme the one that verified it; a route that no longer accepts it refuses the request */
export function asVerified(route: LinkedRoute, scheme: string): LinkedRoute {
  if (route.insecure) return route;
  const isAccepted = route.authenticator.schemes.some(({ name }) => name === scheme);
  const verification: Verification = isAccepted
    ? { ok: true, scheme, secret: 0 }
    : { ok: false, scheme: null, reason: 'missing_signature' };
  const authenticator = { ...route.authenticator, authenticate: () => verification, refuseUnsigned: () => null };
  return { ...route, authenticator };
}
