/** The change with which a gateway takes over abandoned work: what processes before it left, and what it lost. */
import type { Holder, Ref } from './identity.ts';
import type { Step } from './step.ts';

/**
 * Makes due again, with the due time they had, what processes that are gone were holding: runs go back to `pending` with
 * an `interrupted` step, a delivery under way is due, and a dispatch that was `held` is dead (its sender was told nothing
 * and may come again). Every holder but `holder` is gone, in an engine that serves one process; one whose lease has
 * ended, in others.
 *
 * What `holder` itself holds and has not `under_way` was taken by a `take_work` whose result it never learned: it is due
 * again too, without a step. A dispatch that is `held` stays with its holder.
 *
 * Also repairs what a clock that was set back has done: a row whose due time was set at an instant later than `now` is
 * due as long after `now` as it was to wait then.
 */
export interface Recover {
  readonly kind: 'recover';
  readonly holder: Holder;
  readonly now: number;
  readonly under_way: UnderWay;
}

/** What a process has taken and not ended: everything before the `recover` that it has not given back in the store. */
export interface UnderWay {
  readonly runs: readonly Ref[];
  readonly attempts: readonly { readonly ref: Ref; readonly index: number }[];
}

/** A dispatch that was dead then. */
export interface GivenUp {
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly reason: string;
}

export interface Recovered {
  readonly runs: number;
  readonly attempts: number;
  readonly given_up: readonly GivenUp[];
}

/** Why a dispatch is dead whose sender was waiting. */
export const UNANSWERED = 'the gateway ended before the delivery was answered: it may have arrived';

/** What is recorded of a run that was cut off. */
export const interruptedStep = (started_at: number, at: number): Step => ({
  ...{ kind: 'run', index: null, outcome: 'interrupted', started_at, at, next_at: null },
  ...{ reason: 'the gateway ended while it was running', sent: 0, message_id: null },
});
