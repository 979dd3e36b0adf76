/** The stages that authenticate the sender and take a slot of the rate window for it. */

import { orRefused } from '../../dispatch/dispatcher.ts';
import type { Intake, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { INVALID_SIGNATURE, retryLater } from '../reply.ts';
import { refuse } from './reject.ts';

export const verifySignature: Stage = (intake, { bodies, connections, overload, warnDeprecated }) => {
  const { route } = intake;
  const verification = route.authenticator.authenticate(intake, intake.receivedAt);
  intake.scheme = verification.scheme ?? '';
  if (!verification.ok) {
    intake.reason = verification.reason;
    return INVALID_SIGNATURE;
  }
  bodies.release(intake.request);
  connections.verify(intake.request);
  overload.verify();
  intake.authenticated = true;
  intake.secret = verification.secret;
  if (route.deprecated.size > 0) warnDeprecated(route, verification.scheme);
  return null;
};

/** Takes a slot of the route's rate window once the sender is verified, so that outsiders cannot use up its quota. */
export const consumeRate: Stage = (intake) => {
  const { route, startedAt } = intake;
  // Another request that passed the check at the same time may have taken the last slot.
  const wait = route.window.take(route.plan.rate_limit, startedAt);
  return typeof wait === 'number' ? limited(wait) : takeShared(intake, wait);
};

const limited = (wait: number): Reply | null => (wait === 0 ? null : retryLater('rate_limited', wait));

/** Refuses the event when the store is unavailable, because free slots are unknown then. */
async function takeShared(intake: Intake, waiting: Promise<number>): Promise<Reply | null> {
  const wait = await orRefused(waiting);
  return typeof wait === 'number' ? limited(wait) : refuse(intake, wait);
}
