/**
 * Chooses the scheme of a request without a usable signature: the scheme that an unsigned request is assumed to use, so that its event
 * type and id are read from the right places, or the scheme that verified a captured request on arrival.
 */
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { SignatureEvidence } from '../../../../runtime/verify/likely-sources.ts';
import type { SignedRequest } from '../../../../runtime/verify/request.ts';
import { isOutsideBody, readValue } from '../../../../runtime/verify/request.ts';
import type { Verification } from '../../../../runtime/verify/verification.ts';
import type { SchemePlan } from '../../../../schemas/generated/types.ts';
import { isMarker } from '../removed.ts';

/** A scheme that reads event type and id from headers, regardless of the payload. */
const PREFERRED = 'github';

/**
 * Whether the request has a signature: of a scheme that the route accepts, or, outside the body, of another sender. The latter
 * is rejected.
 */
export function isSigned({ route, evidence }: SignedRoute, request: SignedRequest): boolean {
  const { schemes } = route.authenticator;
  const carries = ({ signature }: SchemePlan, anywhere: boolean): boolean =>
    signature.some((at) => (anywhere || isOutsideBody(at)) && isSent(readValue(at, request)));
  return schemes.some((plan) => carries(plan, true)) || (evidence?.known ?? []).some((plan) => carries(plan, false));
}

/** A marker replaces a credential that was removed from a captured request. */
const isSent = (value: unknown): boolean => value !== undefined && !(typeof value === 'string' && isMarker(value));

interface SignedRoute {
  readonly route: LinkedRoute;
  readonly evidence: SignatureEvidence | null;
}

/** Returns the first scheme whose event or id header the request has, otherwise a default; null if the route has no scheme. */
export function assumeScheme({ authenticator }: LinkedRoute, request: SignedRequest): SchemePlan | null {
  const { schemes } = authenticator;
  const carries = ({ event, delivery }: SchemePlan): boolean =>
    [...event, ...delivery].some((at) => at.in === 'header' && readValue(at, request) !== undefined);
  return (
    schemes.find(carries) ??
    schemes.find(({ name }) => name === PREFERRED) ??
    schemes.find(({ deprecated }) => deprecated === null) ??
    schemes[0] ??
    null
  );
}

/** Adds the event type to the header that the scheme reads, unless the request has one. */
export function withEvent<Request extends { readonly headers: SignedRequest['headers'] }>(
  request: Request,
  scheme: SchemePlan | null,
  event: string,
): Request {
  const at = scheme?.event.find((place) => place.in === 'header');
  if (at === undefined || request.headers[at.name] !== undefined) return request;
  return { ...request, headers: { ...request.headers, [at.name]: event } };
}

/** @param scheme the scheme that verified the request; a route that no longer accepts it rejects the request */
export function asVerified(route: LinkedRoute, scheme: string): LinkedRoute {
  if (route.insecure) return route;
  const isAccepted = route.authenticator.schemes.some(({ name }) => name === scheme);
  const verification: Verification = isAccepted
    ? { ok: true, scheme, secret: 0 }
    : { ok: false, scheme: null, reason: 'missing_signature' };
  const authenticator = { ...route.authenticator, authenticate: () => verification, refuseByHead: () => null };
  return { ...route, authenticator };
}
