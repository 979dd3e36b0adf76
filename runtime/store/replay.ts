/** Replays a dispatch as a new one with a reference to it, for operators. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Accept, InitialWork } from './mutations.ts';
import type { StoredDispatch } from './queries.ts';

export interface ReplayOptions {
  readonly id: string;
  readonly now: number;
  /** Run the agent again even if there is an answer. */
  readonly rerun: boolean;
}

/**
 * Returns the change that stores the replay. An answer that could not be delivered is delivered without a second run; a
 * direct delivery is sent again; everything else runs again. The delivery id is kept for lookups, but is not claimed: a
 * repeat by the sender is still a duplicate.
 */
export function replay(stored: StoredDispatch, { id, now, rerun }: ReplayOptions): Accept {
  const dispatch: Dispatch = { ...stored.dispatch, id, accepted_at: now, replay_of: stored.id };
  return {
    ...{ kind: 'accept', dispatch, max_concurrent: stored.max_concurrent, claim: null, claiming: 'now', now },
    work: workOf(stored, rerun, now),
  };
}

function workOf({ dispatch, mode, state, answer }: StoredDispatch, rerun: boolean, now: number): InitialWork {
  const isAnswered = state === 'dead' && answer !== null && !rerun;
  if ((!isAnswered && mode !== 'direct') || dispatch.deliveries.length === 0) return { kind: 'run' };
  const open = dispatch.deliveries.map(({ target }, index) => ({ index, target, due_at: now }));
  return { kind: 'deliveries', answer: isAnswered ? answer : null, open };
}

export function whyNotReplay({ state }: StoredDispatch): string | null {
  return state === 'pending' || state === 'running' || state === 'delivering' ? `it is still ${state}` : null;
}
