/** One delivery attempt: makes it, decides the next step, and returns the step to store and the line to log. */
import { targetLabel } from '../../base/text.ts';
import type { Dispatch, DispatchDelivery } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome, DeliveryRequest } from '../deliver/deliverer.ts';
import { failed } from '../deliver/deliverer.ts';
import { traceContextOf } from '../platform/log.ts';
import { StoreUnavailable } from '../store/contract.ts';
import type { Step } from '../store/states.ts';
import { answerOf } from '../store/states.ts';
import { markerOf } from '../table/link-loop.ts';
import type { DispatchContext, RetryPolicy } from './context.ts';
import { logFields } from './dispatcher.ts';
import { keptWait, pacedWait, retryWait } from './retry-waits.ts';

/** A text to deliver, with the dispatch that holds the addresses. */
export interface DeliveryContent {
  readonly dispatch: Dispatch;
  readonly text: string;
}

export interface DeliveryProgress {
  readonly index: number;
  /** Attempts since the delivery last failed permanently: a replay resets the count. */
  readonly attempts: number;
  /** Number of delivered pieces. */
  readonly sent: number;
  /** Unix ms. */
  readonly first_attempt_at: number | null;
  /** How often the whole text was delivered before; it is sent again on purpose. */
  readonly delivered: number;
  /** The approval answer; null: there is none. */
  readonly answer: Step | null;
}

/** Computes the progress from the stored steps of the dispatch. */
export function progressOf(index: number, steps: readonly Step[]): DeliveryProgress {
  const answer = answerOf(steps, index);
  const all = steps.filter((step) => step.kind === 'delivery' && step.index === index && step.by === undefined);
  const recentSteps = all.slice(all.findLastIndex(({ outcome }) => outcome === 'ok') + 1);
  const attempts = recentSteps.length - 1 - recentSteps.findLastIndex(({ next_at }) => next_at === null);
  const delivered = all.filter(({ outcome }) => outcome === 'ok').length;
  return {
    index,
    attempts,
    sent: recentSteps.at(-1)?.sent ?? 0,
    first_attempt_at: recentSteps[0]?.started_at ?? null,
    delivered,
    answer,
  };
}

/** Makes one attempt. If the deliverer throws, which it should not, the outcome is `ambiguous`. */
export async function deliverOnce(
  context: DispatchContext,
  { dispatch, text }: DeliveryContent,
  progress: DeliveryProgress,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { index, sent, first_attempt_at, delivered } = progress;
  const address = dispatch.deliveries[index];
  if (address === undefined) throw new Error(`dispatch ${dispatch.id} has no delivery ${index}`);
  const { output, approve_ms: _, ...to } = address;
  try {
    const installation = await context.installation?.();
    return await context.deliverer.deliver({
      // A target that recognises repeats by their key would drop an intended repeat.
      key: delivered === 0 ? `${dispatch.id}:${index}` : `${dispatch.id}:${index}:${delivered}`,
      profile: dispatch.profile,
      route: dispatch.route ?? dispatch.job ?? dispatch.event,
      delivery_id: dispatch.delivery_id,
      ...to,
      ...contentOf(output, text),
      ...(dispatch.pins === undefined ? {} : { pins: dispatch.pins }),
      ...(installation === undefined
        ? {}
        : { marker: markerOf(installation, dispatch.id), series: seriesOf(installation, dispatch, address) }),
      sent,
      first_attempt_at,
      mirror_to_session: dispatch.mirror_to_session,
      ...traceContextOf(dispatch),
      signal,
    });
  } catch (error) {
    if (error instanceof StoreUnavailable) return failed('retry', 'the store is unavailable', { sent });
    context.log.error(
      { ...logFields(dispatch), target: targetLabel(address), err: error },
      'internal error while sending a delivery',
    );
    return failed('ambiguous', 'internal error', { sent });
  }
}

/** Identifies the deliveries of one session, or else of one route or job, by output. */
function seriesOf(installation: string, dispatch: Dispatch, { output }: DispatchDelivery): string {
  const { profile, route, job, session, session_key = null } = dispatch;
  return JSON.stringify([installation, profile, session_key === null ? [route, job] : session, output?.name ?? null]);
}

/** An output has its own text, if any; every other delivery has the answer. */
function contentOf(output: DispatchDelivery['output'], answer: string): Pick<DeliveryRequest, 'text' | 'content'> {
  if (output === undefined) return { text: answer };
  const { content } = output;
  return { text: typeof content.text === 'string' ? content.text : '', content };
}

/** An attempt that contacted the target: its outcome, and the decision. */
export interface Attempted {
  readonly kind: 'attempted';
  /** Of the delivery. */
  readonly index: number;
  /** Display name of the target. */
  readonly label: string;
  readonly outcome: DeliveryOutcome;
  readonly decision: Exclude<DeliveryDecision, { kind: 'paced' }>;
  /** Unix ms. */
  readonly startedAt: number;
  readonly ms: number;
}

type MadeAttempt =
  | Attempted
  /** Cancelled by a stop: it may have arrived, and is repeated after the next start, as after a crash. */
  | { readonly kind: 'cancelled' }
  /** The target was not contacted. */
  | { readonly kind: 'paced'; readonly wait_ms: number };

/** Makes one attempt, reports it to the observer and decides the next step. Never rejects for a failed delivery. */
export async function makeAttempt(
  context: DispatchContext,
  content: DeliveryContent,
  progress: DeliveryProgress,
  signal: AbortSignal,
): Promise<MadeAttempt> {
  const { clock, observer } = context;
  const { dispatch } = content;
  const delivery = dispatch.deliveries[progress.index];
  const target = delivery?.target ?? '';
  const label = delivery === undefined ? target : targetLabel(delivery);
  observer?.reached?.('delivery.begin');
  const startedAt = clock.now();
  const started = clock.monotonic();
  const outcome = await deliverOnce(context, content, progress, signal);
  observer?.reached?.('delivery.sent');
  const policy = context.policy(dispatch.profile, target);
  if (signal.aborted && outcome.kind !== 'ok' && mayRepeat(outcome, policy)) return { kind: 'cancelled' };
  const ms = Math.round(clock.monotonic() - started);
  if (outcome.kind === 'ok' || outcome.attempted) observer?.attemptEnded?.(label, outcome.kind, ms);
  const usual = decideDelivery(outcome, progress.attempts + 1, policy, context.random());
  const kept = mayRepeat(outcome, policy) ? keptWait(dispatch, outcome, progress.attempts + 1, startedAt) : null;
  const decision = kept === null || usual.kind === 'paced' ? usual : { ...kept, kind: 'retry' as const };
  if (decision.kind === 'paced') return decision;
  return { kind: 'attempted', index: progress.index, label, outcome, decision, startedAt, ms };
}

/** The step to store for an attempt. @param at Unix ms of its end */
export function deliveryStep(
  index: number,
  { outcome, decision, startedAt }: Pick<Attempted, 'outcome' | 'decision' | 'startedAt'>,
  at: number,
): Step {
  const reason = decision.kind === 'done' ? null : decision.reason;
  const next_at = decision.kind === 'retry' ? at + decision.wait_ms : null;
  const message_id = outcome.kind === 'ok' ? outcome.message_id : null;
  const { kind, sent } = outcome;
  return { kind: 'delivery', index, outcome: kind, started_at: startedAt, at, reason, next_at, sent, message_id };
}

/**
 * Logs the outcome of an attempt; call it once the step is stored. A delivery to the log target needs no second line.
 */
export function reportAttempt(
  { log, observer }: DispatchContext,
  dispatch: Dispatch,
  attempt: number,
  { index, label, outcome, decision, ms }: Attempted,
): void {
  if (decision.kind !== 'retry' && outcome.kind !== 'superseded')
    observer?.deliveryEnded?.(dispatch, index, decision.kind === 'dead' ? decision.reason : null);
  if (decision.kind === 'retry') observer?.retryScheduled?.('delivery');
  if (outcome.kind === 'ok' && outcome.logged === true) return;
  const fields = { ...logFields(dispatch), target: label, attempt, ms };
  if (decision.kind === 'done') log.info(fields, 'delivered');
  else if (outcome.kind === 'superseded') log.info(fields, 'not sent: what it is about has changed');
  else if (decision.kind === 'dead') log.error({ ...fields, reason: decision.reason }, 'delivery failed permanently');
  else {
    const { reason, wait_ms } = decision;
    log.warn({ ...fields, reason, retry_in_ms: wait_ms }, 'delivery failed; will retry');
  }
}

/** The decision after a delivery attempt: the retry rules, as one pure function. */
type DeliveryDecision =
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
  if (outcome.kind === 'permanent' || outcome.kind === 'superseded') return { kind: 'dead', reason };
  if (!outcome.attempted) return { kind: 'paced', wait_ms: pacedWait(outcome.retry_after_ms) };
  if (!mayRepeat(outcome, policy)) {
    return { kind: 'dead', reason: `not retried, because it may have arrived: ${reason}` };
  }
  if (attempt >= policy.max_attempts) {
    return { kind: 'dead', reason: `failed after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}: ${reason}` };
  }
  return { kind: 'retry', wait_ms: retryWait(attempt, outcome.retry_after_ms, random), reason };
}

/** False if another attempt could post the message twice, which the operator does not accept. */
export const mayRepeat = (outcome: DeliveryOutcome, { at_most_once }: RetryPolicy): boolean =>
  outcome.kind !== 'ambiguous' || outcome.idempotent || !at_most_once;
