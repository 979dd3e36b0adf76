/** Finds the event type and the delivery id, and makes them safe to store, log and pass on (§6.1, §6.2). */
import { isPrintable, printableStart } from '../../platform/printable.ts';
import type { Identity } from '../../table/link-identity.ts';
import { digestOf } from '../../table/link-identity.ts';
import { readFirst } from '../../verify/locator.ts';
import type { Intake, Stage } from '../intake.ts';

/** The type of an event that names none. */
export const UNKNOWN_EVENT = 'unknown';
/** Longest event type, in UTF-16 units; real ones are far shorter. */
export const EVENT_LIMIT = 256;
/** Longest delivery id that is kept, in UTF-16 units. A longer one is replaced by its digest; cutting could merge two ids. */
const ID_LIMIT = 256;

export const identify: Stage = (intake, { ids }) => {
  const { limits, plan, identityOf } = intake.route;
  const identity = identityOf(intake.scheme);
  intake.event = eventName(sentEvent(intake, identity) ?? UNKNOWN_EVENT);
  const sent = sentId(intake, identity);
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

function sentEvent(intake: Intake, { event, eventFallback }: Identity): string | null {
  return readFirst(event, intake, true) ?? readFirst(eventFallback, intake, false);
}

function sentId(intake: Intake, { delivery, digest }: Identity): string | null {
  const id = readFirst(delivery, intake, true);
  if (id === null) return digest === null ? null : digest(intake);
  return keptId(id);
}

export const eventName = (sent: string): string => printableStart(sent, EVENT_LIMIT);

export const keptId = (sent: string): string => (sent.length <= ID_LIMIT && isPrintable(sent) ? sent : digestOf(sent));
