/**
 * Refuses events while the server is stopping or overloaded, and on routes that are switched off: before anything is read
 * of them.
 */
import type { Stage } from '../intake.ts';
import { ROUTE_DISABLED, retryLater } from '../reply.ts';

/** When to come back to a process that has more to do than it can, in seconds. */
const OVERLOADED_SECONDS = 10;

export const checkOpen: Stage = (intake, { shutdown, overload }) => {
  if (shutdown.retryAfterSeconds !== null) return retryLater('shutting_down', shutdown.retryAfterSeconds);
  if (overload.refuses()) {
    intake.reason = 'too_busy';
    return retryLater('overloaded', OVERLOADED_SECONDS);
  }
  return intake.route.plan.enabled ? null : ROUTE_DISABLED;
};
