/** Takes a slot of the route's window, now that the sender is known: strangers cannot use up its quota. */
import type { Stage } from '../intake.ts';
import { comeBack } from '../reply.ts';

export const consumeRate: Stage = ({ route, startedAt }) => {
  // Requests that were checked together may find the last slot taken.
  const wait = route.window.take(route.plan.rate_limit, startedAt);
  return wait === 0 ? null : comeBack('rate_limited', wait);
};
