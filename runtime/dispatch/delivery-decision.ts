/** Decides what follows a delivery attempt: the retry rules, as one pure function. */
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import { pacedWait, retryWait } from './backoff.ts';
import type { RetryPolicy } from './context.ts';

export type DeliveryDecision =
  | { readonly kind: 'done' }
  | { readonly kind: 'dead'; readonly reason: string }
  | { readonly kind: 'retry'; readonly wait_ms: number; readonly reason: string }
  /** The target was not contacted: this does not count as an attempt. */
  | { readonly kind: 'paced'; readonly wait_ms: number };

/**
 * @param attempt this attempt's number, from 1.
 * @param random a number in [0, 1).
 */
export function decideDelivery(
  outcome: DeliveryOutcome,
  attempt: number,
  policy: RetryPolicy,
  random: number,
): DeliveryDecision {
  if (outcome.kind === 'ok') return { kind: 'done' };
  const { reason } = outcome;
  if (outcome.kind === 'permanent') return { kind: 'dead', reason };
  if (!outcome.attempted) return { kind: 'paced', wait_ms: pacedWait(outcome.retry_after_ms) };
  if (outcome.kind === 'ambiguous' && !outcome.idempotent && !policy.retry_ambiguous) {
    return { kind: 'dead', reason: `it may have arrived, so it was not repeated: ${reason}` };
  }
  if (attempt >= policy.max_attempts) {
    return { kind: 'dead', reason: `given up after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}: ${reason}` };
  }
  return { kind: 'retry', wait_ms: retryWait(attempt, outcome.retry_after_ms, random), reason };
}
