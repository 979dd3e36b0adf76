/** How stages end an authenticated event: ignored by the route, or refused by the dispatcher. */

import type { Refusal } from '../../dispatch/dispatcher.ts';
import type { Intake } from '../intake.ts';
import type { IgnoredReason, Reply, Subject } from '../reply.ts';
import { duplicate, ignored, retryLater } from '../reply.ts';

/** @param detail logged for the operator, in addition to the reason, which the sender sees too */
export function ignore(intake: Intake, reason: IgnoredReason, detail: string | null = null): Reply {
  intake.reason = reason;
  intake.detail = detail;
  return ignored(answeredEvent(intake), reason);
}

/** The reply to a refusal; stores its reason in the intake. */
export function refuse(intake: Intake, refusal: Refusal): Reply {
  if (refusal.kind === 'duplicate') return duplicate(answeredEvent(intake));
  if (refusal.kind === 'overloaded') intake.reason = refusal.reason;
  return retryLater(refusal.kind, refusal.retry_after_seconds);
}

/** The fields that identify an event in answers. */
export function answeredEvent({ route, event, deliveryId }: Intake): Subject {
  return { route: route.plan.name, event, delivery_id: deliveryId };
}
