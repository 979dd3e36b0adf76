/** Repeats a dispatch as a new one that names it, for operators. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Accept } from './mutations.ts';
import type { StoredDispatch } from './store.ts';

export interface ReplayOptions {
  readonly id: string;
  readonly now: number;
  /** Run the agent again although its answer is there. */
  readonly rerun: boolean;
}

/**
 * The change that stores the repeat, for a running server to take up. An answer that could not be delivered is
 * delivered again without a second run; a direct delivery is sent again; everything else runs again. The delivery id
 * stays, for whoever looks it up, but claims nothing: a sender's repeat of it is still a duplicate.
 */
export function replay(stored: StoredDispatch, { id, now, rerun }: ReplayOptions): Accept {
  const dispatch: Dispatch = { ...stored.dispatch, id, accepted_at: now, replay_of: stored.id };
  const answer = stored.state === 'dead' && !rerun ? stored.answer : null;
  const shared = {
    kind: 'accept',
    dispatch,
    max_concurrent: stored.max_concurrent,
    claim: null,
    claiming: 'now',
    now,
    inbox: true,
  } as const;
  if (answer !== null) return { ...shared, state: 'delivering', answer };
  return { ...shared, state: stored.mode === 'direct' ? 'delivering' : 'pending' };
}

/** Why a dispatch cannot be repeated, or null. */
export function whyNotReplay({ state }: StoredDispatch): string | null {
  return state === 'pending' || state === 'running' || state === 'delivering' ? `it is still ${state}` : null;
}
