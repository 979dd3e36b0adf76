/** What happened to a dispatch, in order, for people: of what is stored of it. */
import { targetLabel } from '../../base/label.ts';
import type { Dispatch, DispatchDelivery } from '../../schemas/generated/types.ts';
import type { StoredDispatch } from './queries.ts';
import type { Step } from './states.ts';
import { isRejected } from './states.ts';

export interface Moment {
  /** Unix ms. */
  readonly at: number;
  readonly what: string;
  /** What was tried, for attempts. */
  readonly target: string | null;
  readonly outcome: Step['outcome'] | null;
  readonly reason: string | null;
  /** Unix ms of the next attempt. */
  readonly next_at: number | null;
}

/** Oldest first. */
export function timeline(stored: StoredDispatch): readonly Moment[] {
  const { accepted_at, answered_at, finished_at, started_at, state, steps, answer } = stored;
  const moments: Moment[] = [moment(accepted_at, stored.replay_of === null ? 'accepted' : 'replayed')];
  const attempts = new Map<number, number>();
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'run') {
      moments.push(moment(step.started_at, 'run started'), ofStep(step, `run ${step.outcome}`, null));
      continue;
    }
    const index = step.index ?? 0;
    const delivery = stored.dispatch.deliveries[index];
    const target = delivery === undefined ? null : deliveryLabel(delivery);
    if (step.outcome === 'approved' || step.outcome === 'rejected') {
      moments.push(ofStep(step, step.by === undefined ? 'not approved' : `${step.outcome} by ${step.by}`, target));
      continue;
    }
    if (step.outcome === 'withdrawn' || isRejected(steps.slice(0, at + 1), index)) {
      moments.push({ ...ofStep(step, 'not sent', target), outcome: null });
      continue;
    }
    const attempt = (attempts.get(index) ?? 0) + 1;
    attempts.set(index, attempt);
    moments.push(ofStep(step, step.outcome === 'ok' ? 'delivered' : `delivery attempt ${attempt} failed`, target));
  }
  // The run that answered, or is under way, left no step.
  const isRecorded = steps.some((step) => step.kind === 'run' && step.started_at === started_at);
  if (started_at !== null && !isRecorded) moments.push(moment(started_at, 'run started'));
  if (answered_at !== null) moments.push(moment(answered_at, `answered, ${[...(answer ?? '')].length} characters`));
  if (finished_at !== null) moments.push({ ...moment(finished_at, state), reason: stored.reason });
  // Stable: what happened in one millisecond stays in the order above.
  return moments.sort((a, b) => a.at - b.at);
}

const moment = (at: number, what: string): Moment => ({
  at,
  what,
  target: null,
  outcome: null,
  reason: null,
  next_at: null,
});

function ofStep({ at, outcome, reason, next_at }: Step, what: string, target: string | null): Moment {
  return { at, what, target, outcome, reason, next_at };
}

/** The target, and which output goes there. */
export const deliveryLabel = (delivery: StoredDispatch['dispatch']['deliveries'][number]): string =>
  delivery.output === undefined ? targetLabel(delivery) : `${targetLabel(delivery)} (${delivery.output.name})`;

/** A dispatch as it is shown, with the names of its targets that people know. */
export const withLabels = ({ deliveries, outputs, on_failure, ...dispatch }: Dispatch): Dispatch => ({
  ...dispatch,
  deliveries: deliveries.map(withLabel),
  ...(outputs === undefined
    ? {}
    : { outputs: outputs.map((output) => ({ ...output, delivery: withLabel(output.delivery) })) }),
  ...(on_failure === undefined ? {} : { on_failure: on_failure.map(withLabel) }),
});

const withLabel = ({ label, ...delivery }: DispatchDelivery): DispatchDelivery => ({
  ...delivery,
  target: label ?? delivery.target,
});
