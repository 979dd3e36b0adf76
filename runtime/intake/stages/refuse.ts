/** Answers an event that the dispatcher refuses. */
import type { Refusal } from '../../dispatch/dispatcher.ts';
import type { Intake } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { duplicate, retryLater } from '../reply.ts';

/** The reply to a refusal; stores its reason in the intake. */
export function refuse(intake: Intake, refusal: Refusal): Reply {
  if (refusal.kind === 'duplicate') return duplicate(answeredEvent(intake));
  if (refusal.kind === 'overloaded') intake.reason = refusal.reason;
  return retryLater(refusal.kind, refusal.retry_after_seconds);
}

/** The fields that identify an event in answers. */
export function answeredEvent({ route, event, deliveryId }: Intake): {
  route: string;
  event: string;
  delivery_id: string;
} {
  return { route: route.plan.name, event, delivery_id: deliveryId };
}
