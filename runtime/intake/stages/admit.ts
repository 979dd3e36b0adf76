/** The stages that refuse a request by its head, before its body takes memory. */

import type { Stage } from '../intake.ts';
import { foreignPart } from '../origin.ts';
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

/** Refuses requests to a route whose rate window is full, before their body is read; takes no slot (§3.1). */
export const checkRate: Stage = ({ route, startedAt }) => {
  const wait = route.window.wait(route.plan.rate_limit, startedAt);
  return wait === 0 ? null : retryLater('rate_limited', wait);
};

/** Refuses a body by its declared length, before it is read. */
export const checkSize: Stage = ({ headers, route }) =>
  Number(headers['content-length'] ?? 0) > route.limits.maxBodyBytes ? PAYLOAD_TOO_LARGE : null;

/**
 * Refuses a request that cannot be authentic whatever its body is, before that takes memory and time: without a signature,
 * or with one that cannot be one. The signature stage checks the others. A body that comes with the head is kept: with it, the
 * cause of a refused signature can be found.
 */
export const checkCredential: Stage = (intake, { bodies }) => {
  const { authenticator, awaitsSecret } = intake.route;
  const refused = authenticator.refuseByHead(intake, intake.receivedAt);
  if (refused === null || awaitsSecret?.(intake) === true) return null;
  intake.scheme = refused.scheme ?? '';
  intake.reason = refused.reason;
  if (refused.reason !== 'malformed_signature') return INVALID_SIGNATURE;
  return bodies.readArrived(intake.request, intake.route.limits.maxBodyBytes).then((body) => {
    intake.body = body ?? intake.body;
    return INVALID_SIGNATURE;
  });
};
