/** Replays a dispatch for operators: in its own row where its text stands, else as a new run with a reference to it. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Accept, Resend } from './event-mutations.ts';
import type { ClaimKey } from './identity.ts';
import type { StoredDispatch } from './queries.ts';
import { isFinal, wasRejected } from './states.ts';

export interface ReplayOptions {
  /** Of a new row. */
  readonly id: string;
  readonly now: number;
  /** Run the agent again even if there is an answer. */
  readonly rerun: boolean;
  /** Send to all targets, also to those that have got the text. */
  readonly again: boolean;
}

/**
 * Returns the change that stores the replay. A message, and an answer that could not be delivered, goes on in its row to
 * the targets that have not got it. Everything else runs again in a row of its own; its delivery id is kept for lookups,
 * but is not claimed: a repeat by the sender is still a duplicate.
 */
export function replay(stored: StoredDispatch, { id, now, rerun, again }: ReplayOptions): Accept | Resend {
  if (hasText(stored, rerun, again)) return { kind: 'resend', ref: stored.ref, key: keyOfMessage(stored), again, now };
  const dispatch: Dispatch = { ...stored.dispatch, id, accepted_at: now, replay_of: stored.id };
  const { max_concurrent } = stored;
  return { kind: 'accept', dispatch, max_concurrent, claim: null, claiming: 'now', work: { kind: 'run' }, now };
}

function hasText(of: StoredDispatch, rerun: boolean, again: boolean): boolean {
  if (of.dispatch.deliveries.length === 0) return false;
  return isMessage(of) || (of.answer !== null && !rerun && (of.state === 'dead' || wasRejected(of) || again));
}

/** Whether the prompt is the text that is delivered: no agent runs. */
export const isMessage = ({ mode }: Pick<Dispatch, 'mode'>): boolean => mode === 'direct' || mode === 'message';

/** The delivery id under which a message is stored; null for a dispatch that runs. */
export function keyOfMessage(of: Pick<Dispatch, 'mode' | 'profile' | 'route' | 'delivery_id'>): ClaimKey | null {
  const { profile, route, delivery_id } = of;
  return isMessage(of) && route !== null ? { profile, route, delivery_id } : null;
}

/** Why it is not replayed; null when it is. */
export function whyNotReplay(stored: StoredDispatch, again: boolean): string | null {
  const { state } = stored;
  if (!isFinal(state)) return `it is still ${state}`;
  return state === 'done' && isMessage(stored) && !again ? DELIVERED : null;
}

export const DELIVERED = 'its targets have got it; --again sends it to all of them once more';
