/** Refuses requests to a route whose rate window is full, before their body is read; takes no slot (§3.1). */
import type { Stage } from '../intake.ts';
import { retryLater } from '../reply.ts';

export const checkRate: Stage = ({ route, startedAt }) => {
  const wait = route.window.wait(route.plan.rate_limit, startedAt);
  return wait === 0 ? null : retryLater('rate_limited', wait);
};
