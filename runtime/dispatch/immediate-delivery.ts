/**
 * Answers that stay within this process (the `log` and `local` targets): delivered as soon as the agent has answered, and
 * stored by the same change that records the deliveries, which spares the store a change of its own. A crash between the
 * two repeats the run, as any crash before the answer was stored does.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { OpenDelivery, Step } from '../store/mutations.ts';
import type { DispatchContext } from './context.ts';
import type { Attempted } from './delivery-attempt.ts';
import { deliveryStep, makeAttempt, progressOf, reportAttempt } from './delivery-attempt.ts';

export interface DeliveredNow {
  readonly steps: readonly Step[];
  /** What is left for another attempt. */
  readonly open: readonly OpenDelivery[];
  /** What was attempted, to be reported once it is stored. */
  readonly made: readonly Attempted[];
}

/** Nothing here lasts long enough to be cut off. */
const NEVER = new AbortController().signal;

/** True when each of a dispatch's deliveries ends within its call. */
export function isImmediate({ deliverer }: DispatchContext, { profile, deliveries }: Dispatch): boolean {
  return deliveries.every(({ target }) => deliverer.isImmediate(profile, target));
}

/** Makes the first attempt of each delivery. */
export async function deliverNow(context: DispatchContext, dispatch: Dispatch, text: string): Promise<DeliveredNow> {
  const steps: Step[] = [];
  const open: OpenDelivery[] = [];
  const made: Attempted[] = [];
  for (const [index, { target }] of dispatch.deliveries.entries()) {
    const attempt = await makeAttempt(context, { dispatch, text }, progressOf(index, []), NEVER);
    const now = context.clock.now();
    // Only a target that a swap has put in the place of this one retries or is paced: it is handled like any other.
    if (attempt.kind === 'attempted') {
      const step = deliveryStep(index, attempt, now);
      steps.push(step);
      made.push(attempt);
      if (step.next_at !== null) open.push({ index, target, due_at: step.next_at });
    } else {
      open.push({ index, target, due_at: now + (attempt.kind === 'paced' ? attempt.wait_ms : 0) });
    }
  }
  return { steps, open, made };
}

export function reportDelivered(context: DispatchContext, dispatch: Dispatch, { made }: DeliveredNow): void {
  for (const attempt of made) reportAttempt(context, dispatch, 1, attempt);
}
