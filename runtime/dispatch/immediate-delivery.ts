/**
 * Deliveries that stay within this process (the `log` and `local` targets) are made as soon as the agent has answered. One
 * change stores the answer and the deliveries, which saves a second one. A crash before that change repeats the run, like
 * any crash before the answer is stored.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { OpenDelivery, Step } from '../store/mutations.ts';
import type { DispatchContext } from './context.ts';
import type { Attempted } from './delivery-attempt.ts';
import { deliveryStep, makeAttempt, progressOf, reportAttempt } from './delivery-attempt.ts';

export interface DeliveredNow {
  readonly steps: readonly Step[];
  /** Deliveries that need another attempt. */
  readonly open: readonly OpenDelivery[];
  /** Attempts to report once they are stored. */
  readonly made: readonly Attempted[];
}

/** These deliveries are too short to be cancelled. */
const NEVER = new AbortController().signal;

/** Whether all deliveries of a dispatch stay within this process. */
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
    // Only a target that has replaced this one in a swap can retry or be paced; it is handled like any other.
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
