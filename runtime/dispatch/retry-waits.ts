/** How long failed runs and deliveries wait before they are retried. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';

/** The first wait and the longest, in ms; each wait is four times the one before. */
const FIRST_MS = 2000;
const LONGEST_MS = 3_600_000;
const FACTOR = 4;
/** Share of the wait by which it varies, so that attempts that failed together are not retried together. */
const JITTER = 0.2;

/** The wait after attempt `attempt` (from 1), before jitter, in ms. */
export function nominalWait(attempt: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1));
}

/**
 * The wait after attempt `attempt`, in ms. A wait that the target or model requested is honoured up to an hour, but never
 * shortens the usual one: a target that always requests one second would otherwise use up all attempts in a moment.
 * @param random a number in [0, 1).
 */
export function retryWait(attempt: number, askedMs: number | null, random: number): number {
  const wait = nominalWait(attempt);
  const requestedMs = Math.min(askedMs || 0, LONGEST_MS);
  if (requestedMs >= wait) return Math.round(requestedMs * (1 + JITTER * random));
  return Math.max(requestedMs, Math.round(wait * (1 - JITTER + 2 * JITTER * random)));
}

/** The wait, in ms, when the target was not contacted because of its pace. */
export function pacedWait(askedMs: number | null): number {
  return Math.round(Math.min(Math.max(askedMs ?? FIRST_MS, 1), LONGEST_MS));
}

/** The time for which an alert is kept, and the longest wait between its attempts, in ms. */
const KEPT_MS = 86_400_000;
const KEPT_WAIT_MS = 300_000;

/**
 * Alerts, and requests for approval, wait until their target is back, because operators have no other notice: the target gets any number of
 * attempts, also after a rejection if there is no other receiver. Null: the usual rules apply.
 */
export function keptWait(
  { route, job, event, deliveries, accepted_at }: Dispatch,
  outcome: DeliveryOutcome,
  attempt: number,
  now: number,
): { readonly wait_ms: number; readonly reason: string } | null {
  const isNotice = route === null && job === null && (event === 'alert' || event === 'approval');
  if (outcome.kind === 'ok' || !isNotice || now - accepted_at >= KEPT_MS) return null;
  if (outcome.kind === 'permanent' && deliveries.length > 1) return null;
  const { reason, retry_after_ms } = outcome;
  return { wait_ms: Math.max(Math.min(nominalWait(attempt), KEPT_WAIT_MS), retry_after_ms ?? 0), reason };
}
