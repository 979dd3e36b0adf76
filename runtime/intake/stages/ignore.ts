/** Ends an authenticated event that the route does not want, for the stages that can find so. */
import type { Intake } from '../intake.ts';
import type { IgnoredReason, Reply } from '../reply.ts';
import { ignored } from '../reply.ts';

/** @param detail what is logged for the operator, beside the reason that the sender sees too */
export function ignore(intake: Intake, reason: IgnoredReason, detail: string | null = null): Reply {
  intake.reason = reason;
  intake.detail = detail;
  return ignored({ route: intake.route.plan.name, event: intake.event, delivery_id: intake.deliveryId }, reason);
}
