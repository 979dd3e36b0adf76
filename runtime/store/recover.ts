/** The change with which a gateway takes over abandoned work: of processes that have ended, and its own lost work. */
import type { Holder, Ref } from './identity.ts';
import type { Step } from './step.ts';

/**
 * Releases the work of processes that have ended: runs return to `pending` with an `interrupted` step, deliveries under
 * way are due again, and a `held` dispatch is dead (its sender had no response and may retry). In an engine for one
 * process, every holder but `holder` has ended; in others, those whose lease has expired.
 *
 * Work that `holder` holds and that is not in `under_way` was taken by a `take_work` whose result was lost: it is released
 * too, without a step. A `held` dispatch stays with its holder.
 *
 * Also repairs due times after the clock was set back: a row whose due time was set later than `now` keeps its waiting
 * time, which starts at `now`.
 */
export interface Recover {
  readonly kind: 'recover';
  readonly holder: Holder;
  readonly now: number;
  readonly under_way: UnderWay;
}

/** Work that a process has taken and not ended, as of the `recover`. */
export interface UnderWay {
  readonly runs: readonly Ref[];
  readonly attempts: readonly { readonly ref: Ref; readonly index: number }[];
}

/** A dispatch that `recover` has set to dead. */
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

/** The reason of a dispatch that is dead because its process ended while the sender waited. */
export const UNANSWERED = 'the gateway ended before the delivery was answered: it may have arrived';

/** The step of a run whose process has ended. */
export const interruptedStep = (started_at: number, at: number): Step => ({
  ...{ kind: 'run', index: null, outcome: 'interrupted', started_at, at, next_at: null },
  ...{ reason: 'the gateway ended while it was running', sent: 0, message_id: null },
});
