/** Refuses events while the server is stopping, and on routes that are switched off: before anything is read of them. */
import type { Stage } from '../intake.ts';
import { comeBack, ROUTE_DISABLED } from '../reply.ts';

export const checkOpen: Stage = ({ route }, { shutdown }) => {
  if (shutdown.retryAfterSeconds !== null) return comeBack('shutting_down', shutdown.retryAfterSeconds);
  return route.plan.enabled ? null : ROUTE_DISABLED;
};
