/**
 * Refuses events while the server is stopping or overloaded, and for routes that are disabled, before anything of the
 * request is read.
 */
import type { Stage } from '../intake.ts';
import { ROUTE_DISABLED, retryLater } from '../reply.ts';

/** Retry time for an overloaded process, in seconds. */
const OVERLOADED_SECONDS = 10;

export const checkOpen: Stage = (intake, { shutdown, overload }) => {
  if (shutdown.retryAfterSeconds !== null) return retryLater('shutting_down', shutdown.retryAfterSeconds);
  if (overload.refuses()) {
    intake.reason = 'too_busy';
    return retryLater('overloaded', OVERLOADED_SECONDS);
  }
  return intake.route.plan.enabled ? null : ROUTE_DISABLED;
};
