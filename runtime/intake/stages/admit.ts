/** The stages that refuse a request by its head, before its body takes memory. */

import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../../base/loopback.ts';
import type { Stage } from '../intake.ts';
import type { ReasonCode } from '../reason-codes.ts';
import {
  FOREIGN_ORIGIN,
  INVALID_SIGNATURE,
  PAYLOAD_TOO_LARGE,
  POST_ONLY,
  ROUTE_DISABLED,
  retryLater,
} from '../reply.ts';

/** Refuses any method but POST, except where a source's handshake uses another. */
export const checkMethod: Stage = ({ method, route }) => {
  if (method === 'POST') return null;
  return route.handshake !== null && (method === 'GET' || method === 'HEAD') ? null : POST_ONLY;
};

/** Retry time for an overloaded process, in seconds. */
const OVERLOADED_SECONDS = 10;

/** Refuses events while the server is stopping or overloaded, and for routes that are disabled. */
export const checkOpen: Stage = (intake, { shutdown, overload }) => {
  if (shutdown.retryAfterSeconds !== null) return retryLater('shutting_down', shutdown.retryAfterSeconds);
  if (overload.refuses()) {
    intake.reason = 'too_busy';
    return retryLater('overloaded', OVERLOADED_SECONDS);
  }
  return intake.route.plan.enabled ? null : ROUTE_DISABLED;
};

/**
 * Refuses requests of browsers to a route without a signature. A loopback address keeps other machines out, but not the web
 * pages that the operator opens: any page can post a form, and DNS rebinding can point its host name to 127.0.0.1.
 */
export const checkOrigin: Stage = (intake) => {
  if (!intake.route.insecure) return null;
  const reason = intake.request.isDirect ? foreignPart(intake.headers) : 'unknown_sender';
  if (reason === null) return null;
  intake.reason = reason;
  return FOREIGN_ORIGIN;
};

/** Null when no browser sent it, or a page of this server. */
function foreignPart({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): ReasonCode | null {
  if (host !== undefined && !isLoopback(hostName(host))) return 'foreign_host';
  if (origin !== undefined && !isOwn(origin, host)) return 'foreign_origin';
  return site === undefined || site === 'same-origin' ? null : 'foreign_site';
}

/** The host name without port and brackets. */
function hostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

/** Refuses requests to a route whose rate window is full, before their body is read; takes no slot (§3.1). */
export const checkRate: Stage = ({ route, startedAt }) => {
  const wait = route.window.wait(route.plan.rate_limit, startedAt);
  return wait === 0 ? null : retryLater('rate_limited', wait);
};

/** Refuses a body by its declared length, before it is read. */
export const checkSize: Stage = ({ headers, route }) =>
  Number(headers['content-length'] ?? 0) > route.limits.maxBodyBytes ? PAYLOAD_TOO_LARGE : null;

/**
 * Refuses a request without any credential before its body takes memory: no scheme of the route finds a signature or token
 * in headers or query, and none has it in the body. The signature stage checks the others.
 */
export const requireCredential: Stage = (intake) => {
  const { authenticator, awaitsSecret } = intake.route;
  const refused = authenticator.refuseUnsigned(intake);
  if (refused === null || awaitsSecret?.(intake) === true) return null;
  intake.scheme = refused.scheme ?? '';
  intake.reason = refused.reason;
  return INVALID_SIGNATURE;
};
