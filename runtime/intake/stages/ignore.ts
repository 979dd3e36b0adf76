/** Ends an authenticated event that the route ignores, for several stages. */
import type { Intake } from '../intake.ts';
import type { IgnoredReason, Reply } from '../reply.ts';
import { ignored } from '../reply.ts';

/** @param detail logged for the operator, in addition to the reason, which the sender sees too */
export function ignore(intake: Intake, reason: IgnoredReason, detail: string | null = null): Reply {
  intake.reason = reason;
  intake.detail = detail;
  return ignored({ route: intake.route.plan.name, event: intake.event, delivery_id: intake.deliveryId }, reason);
}
