/** How far each delivery of a dispatch has come, read from its recorded steps. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Ref, Step } from '../store/mutations.ts';

/** One delivery on its way. Changes with every attempt. */
export interface Delivery {
  readonly index: number;
  readonly target: string;
  attempts: number;
  /** Pieces that have arrived. */
  sent: number;
  /** Unix ms. */
  first_attempt_at: number | null;
  /** Unix ms of the next attempt, when one was promised. */
  next_at: number | null;
  state: 'open' | 'done' | 'dead';
  reason: string | null;
}

/** The deliveries of one dispatch. Final once none is open. */
export interface Delivering {
  readonly ref: Ref;
  readonly profile: string;
  readonly deliveries: readonly Delivery[];
}

export function startDelivering(ref: Ref, dispatch: Dispatch, steps: readonly Step[]): Delivering {
  const deliveries = dispatch.deliveries.map(({ target }, index): Delivery => {
    const delivery: Delivery = {
      index,
      target,
      attempts: 0,
      sent: 0,
      first_attempt_at: null,
      next_at: null,
      state: 'open',
      reason: null,
    };
    for (const step of steps) if (step.kind === 'delivery' && step.index === index) applyStep(delivery, step);
    return delivery;
  });
  return { ref, profile: dispatch.profile, deliveries };
}

/** Brings a delivery up to date with an attempt that was recorded. */
export function applyStep(delivery: Delivery, step: Step): void {
  delivery.attempts++;
  delivery.sent = step.sent;
  delivery.first_attempt_at ??= step.started_at;
  delivery.next_at = step.next_at;
  delivery.reason = step.reason;
  if (step.outcome === 'ok') delivery.state = 'done';
  else if (step.next_at === null) delivery.state = 'dead';
}

export const isOpen = ({ state }: Delivery): boolean => state === 'open';

export interface Ending {
  readonly state: 'done' | 'dead';
  readonly reason: string | null;
}

/** How the dispatch ends when no delivery is open; null while one is. */
export function ending({ deliveries }: Delivering): Ending | null {
  if (deliveries.some(isOpen)) return null;
  const dead = deliveries.filter(({ state }) => state === 'dead');
  if (dead.length === 0) return { state: 'done', reason: null };
  return { state: 'dead', reason: dead.map(({ target, reason }) => `${target}: ${reason ?? 'failed'}`).join('; ') };
}
