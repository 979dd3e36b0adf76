/** Finds the event type and the delivery id, and makes them fit to be stored, logged and handed on (§6.1, §6.2). */
import { createHash } from 'node:crypto';
import { isPrintable, printable } from '../../printable.ts';
import { readFirst } from '../../verify/locator.ts';
import type { Intake, Stage } from '../intake.ts';

const UNKNOWN_EVENT = 'unknown';
/** Longest event type, in UTF-16 units; no sender's comes near it. */
const EVENT_LIMIT = 256;
/** Longest delivery id kept as it is. A longer one is named by its digest: cut, two ids could become one. */
const ID_LIMIT = 256;

export const identify: Stage = (intake, { ids }) => {
  const { limits, plan } = intake.route;
  intake.event = printable(sentEvent(intake) ?? UNKNOWN_EVENT, EVENT_LIMIT);
  const sent = sentId(intake);
  intake.deliveryId = sent ?? ids.delivery(intake.receivedAt);
  intake.claim = {
    profile: plan.profile,
    route: plan.name,
    delivery_id: intake.deliveryId,
    generated: sent === null,
    ttl_ms: limits.idempotencyTtlMs,
  };
  return null;
};

function sentEvent(intake: Intake): string | null {
  const { event, eventFallback, pinned } = intake.route.identity;
  return readFirst(event, intake, pinned) ?? readFirst(eventFallback, intake, false);
}

function sentId(intake: Intake): string | null {
  const { identity } = intake.route;
  const id = readFirst(identity.delivery, intake, identity.pinned);
  if (id === null) return identity.digest ? digest(intake.body) : null;
  return id.length <= ID_LIMIT && isPrintable(id) ? id : digest(id);
}

function digest(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
