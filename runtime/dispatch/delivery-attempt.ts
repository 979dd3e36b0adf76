/** One delivery attempt of an answer: made and judged, as it is recorded, as it is logged. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import type { Step } from '../store/mutations.ts';
import type { DispatchContext } from './context.ts';
import type { Content } from './deliver-once.ts';
import { deliverOnce } from './deliver-once.ts';
import type { Verdict } from './delivery-outcome.ts';
import { judge } from './delivery-outcome.ts';
import type { Delivery } from './delivery-progress.ts';
import { logFields } from './log-fields.ts';

/** An attempt that counts: what came of it, and what follows. */
export interface Attempted {
  readonly kind: 'attempted';
  readonly outcome: DeliveryOutcome;
  readonly verdict: Exclude<Verdict, { kind: 'paced' }>;
  /** Unix ms. */
  readonly startedAt: number;
  readonly ms: number;
}

export type MadeAttempt =
  | Attempted
  /** Cut off by our own stop: whether it arrived is as open as after a crash, and it is repeated as after a crash. */
  | { readonly kind: 'cut_off' }
  /** The target was not contacted. */
  | { readonly kind: 'paced'; readonly wait_ms: number };

export async function makeAttempt(
  context: DispatchContext,
  content: Content,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<MadeAttempt> {
  const { clock, observer } = context;
  observer?.reached?.('delivery.begin');
  const startedAt = clock.now();
  const started = clock.monotonic();
  const outcome = await deliverOnce(context, content, delivery, signal);
  observer?.reached?.('delivery.sent');
  if (signal.aborted && outcome.kind !== 'ok') return { kind: 'cut_off' };
  const ms = Math.round(clock.monotonic() - started);
  if (outcome.kind === 'ok' || outcome.attempted) observer?.attemptEnded?.(delivery.target, outcome.kind, ms);
  const policy = context.policy(content.dispatch.profile, delivery.target);
  const verdict = judge(outcome, delivery.attempts + 1, policy, context.random());
  return verdict.kind === 'paced' ? verdict : { kind: 'attempted', outcome, verdict, startedAt, ms };
}

/** @param at unix ms of its end */
export function deliveryStep({ index }: Delivery, { outcome, verdict, startedAt }: Attempted, at: number): Step {
  return {
    kind: 'delivery',
    index,
    outcome: outcome.kind,
    started_at: startedAt,
    at,
    reason: verdict.kind === 'done' ? null : verdict.reason,
    next_at: verdict.kind === 'again' ? at + verdict.wait_ms : null,
    sent: outcome.sent,
    message_id: outcome.kind === 'ok' ? outcome.message_id : null,
  };
}

/** Says what came of an attempt, once it is recorded. A delivery that was a line of the log itself needs no other. */
export function reportAttempt(
  { log, observer }: DispatchContext,
  dispatch: Dispatch,
  delivery: Delivery,
  { outcome, verdict, ms }: Attempted,
): void {
  if (verdict.kind === 'again') observer?.retryScheduled?.('delivery');
  if (outcome.kind === 'ok' && outcome.logged === true) return;
  const { target, attempts: attempt } = delivery;
  const fields = { ...logFields(dispatch), target, attempt, ms };
  if (verdict.kind === 'done') log.info(fields, 'delivered');
  else if (verdict.kind === 'dead') log.error({ ...fields, reason: verdict.reason }, 'delivery given up');
  else {
    const { reason, wait_ms } = verdict;
    log.warn({ ...fields, reason, retry_in_ms: wait_ms }, 'delivery failed, trying again');
  }
}
