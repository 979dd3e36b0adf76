/** Takes a slot of the route's window, now that the sender is known: strangers cannot use up its quota. */
import { orRefused } from '../../dispatch/or-refused.ts';
import type { Intake, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { retryLater } from '../reply.ts';
import { refuse } from './refuse.ts';

export const consumeRate: Stage = (intake) => {
  const { route, startedAt } = intake;
  // Requests that were checked together may find the last slot taken.
  const wait = route.window.take(route.plan.rate_limit, startedAt);
  return typeof wait === 'number' ? limited(wait) : takeShared(intake, wait);
};

const limited = (wait: number): Reply | null => (wait === 0 ? null : retryLater('rate_limited', wait));

/** Without the store it is unknown whether there is a slot. */
async function takeShared(intake: Intake, waiting: Promise<number>): Promise<Reply | null> {
  const wait = await orRefused(waiting);
  return typeof wait === 'number' ? limited(wait) : refuse(intake, wait);
}
