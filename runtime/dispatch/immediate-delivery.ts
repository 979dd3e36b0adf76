/**
 * Answers that stay within this process (the `log` and `local` targets): delivered as soon as the agent has answered, and
 * stored by the same change that records the deliveries, which spares the store a change of its own. A crash between the
 * two repeats the run, as any crash before the answer was stored does.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Ref, Step } from '../store/mutations.ts';
import type { DispatchContext } from './context.ts';
import type { Attempted } from './delivery-attempt.ts';
import { deliveryStep, makeAttempt, reportAttempt } from './delivery-attempt.ts';
import type { Delivery, Ending } from './delivery-progress.ts';
import { applyStep, ending, startDelivering } from './delivery-progress.ts';

export interface DeliveredNow {
  readonly steps: readonly Step[];
  /** Null: a delivery is left for another attempt. */
  readonly end: Ending | null;
  /** What was attempted, to be reported once it is stored. */
  readonly made: readonly (readonly [Delivery, Attempted])[];
}

/** Nothing here lasts long enough to be cut off. */
const NEVER = new AbortController().signal;

/** True when each of a dispatch's deliveries ends within its call. */
export function isImmediate({ deliverer }: DispatchContext, { profile, deliveries }: Dispatch): boolean {
  return deliveries.length > 0 && deliveries.every(({ target }) => deliverer.isImmediate(profile, target));
}

/** Makes the first attempt of each delivery. */
export async function deliverNow(
  context: DispatchContext,
  ref: Ref,
  dispatch: Dispatch,
  text: string,
): Promise<DeliveredNow> {
  const whole = startDelivering(ref, dispatch, []);
  const steps: Step[] = [];
  const made: [Delivery, Attempted][] = [];
  for (const delivery of whole.deliveries) {
    const attempt = await makeAttempt(context, { dispatch, text }, delivery, NEVER);
    // Anything else came from a target that a swap has put in the place of this one: it goes the long way.
    if (attempt.kind !== 'attempted') continue;
    const step = deliveryStep(delivery, attempt, context.clock.now());
    applyStep(delivery, step);
    steps.push(step);
    made.push([delivery, attempt]);
  }
  return { steps, end: ending(whole), made };
}

export function reportDelivered(context: DispatchContext, dispatch: Dispatch, { made }: DeliveredNow): void {
  for (const [delivery, attempt] of made) reportAttempt(context, dispatch, delivery, attempt);
}
