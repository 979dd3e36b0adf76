/**
 * Ignores events that this installation has caused: its account sent them, or their text holds the marker of what it posts.
 * An event with the marker of another installation is one of an exchange, which the store counts (runtime/store/unit/guard.ts).
 */
import { orRefused } from '../../dispatch/dispatcher.ts';
import { MARKER_START } from '../../table/loop-marker.ts';
import type { Intake, Services, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { ignore, refuse } from './reject.ts';

export const checkLoop: Stage = (intake, services) => {
  const { body, route, scheme } = intake;
  const { ownLogin = unknown } = services;
  if (!route.plan.allow_own_events && route.loop.isOwnSender(scheme, intake.data, ownLogin))
    return ignore(intake, 'loop', 'the sender is the account that the gateway posts as');
  return body.includes(MARKER_START) ? checkMarkers(intake, services) : null;
};

const unknown = (): null => null;

async function checkMarkers(intake: Intake, { installation }: Services): Promise<Reply | null> {
  const { route, scheme, data } = intake;
  const found = route.loop.installationsIn(scheme, data);
  if (found.size === 0) return null;
  const own = await orRefused(installation());
  if (typeof own !== 'string') return refuse(intake, own);
  if (found.has(own)) {
    return route.plan.allow_own_events ? null : ignore(intake, 'loop', 'the text holds the marker of this gateway');
  }
  intake.isExchange = true;
  return null;
}
