/** The changes by which events, messages and repeats of them come into a store, and why one may not. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan } from './budget.ts';
import type { GroupLimits } from './group.ts';
import type { RunLimit } from './guard-mutations.ts';
import type { ClaimKey, Holder, Ref, StoredClaim } from './identity.ts';
import type { Step } from './states.ts';

/** A delivery that has not ended. Its lane is (profile of the dispatch, target). */
export interface OpenDelivery {
  readonly index: number;
  readonly target: string;
  /** Unix ms of the next attempt; of one that waits for an approval, when it expires. */
  readonly due_at: number;
  /** It waits for a person who approves it. */
  readonly waiting?: true;
}

/** What a new dispatch waits for. */
export type InitialWork =
  /** A run, due at once. */
  | { readonly kind: 'run' }
  /** Its deliveries, at least one. The text is the answer, or the prompt when that is null. */
  | { readonly kind: 'deliveries'; readonly answer: string | null; readonly open: readonly OpenDelivery[] }
  /** Nothing: `holder` delivers it while the sender waits. If that process ends first, the dispatch is dead. */
  | { readonly kind: 'held'; readonly holder: Holder };

/**
 * Stores a dispatch. If its delivery id is already claimed, it is a duplicate and nothing is stored.
 *
 * A dispatch that waits for no run is a message, and a message is one row for each delivery id: if the row of an earlier
 * attempt is dead, the new attempt continues it. The row keeps its id and takes the text and addresses of this dispatch.
 * A delivery to a target and address that has succeeded stays as it is.
 */
export interface Accept {
  readonly kind: 'accept';
  readonly dispatch: Dispatch;
  /** Most runs of its route at once, over all processes; null: no limit. The latest value applies to the route. */
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  /** `later`: the id is only checked now; the change that records success claims it. */
  readonly claiming: 'now' | 'later';
  readonly work: InitialWork;
  /** Counts the run against these limits; left out: it has none. */
  readonly limits?: readonly RunLimit[];
  /** In which the run is reserved; left out: it has none. */
  readonly budgets?: readonly BudgetSpan[];
  readonly now: number;
}

/** A dead message that a new attempt of its sender has continued. */
export interface Continued {
  /** Of the row, from its first attempt. */
  readonly id: string;
  readonly accepted_at: number;
  /** Those of the row, at their indexes, then the new ones. */
  readonly deliveries: Dispatch['deliveries'];
  /** All attempts so far. A delivery that the new attempt does not have ends with a step `withdrawn`. */
  readonly steps: readonly Step[];
}

/**
 * Sends the stored text of an ended dispatch once more, in its own row: to the targets that have not got it, or with
 * `again` to all of them. The deliveries are due at once and are retried as usual.
 */
export interface Resend {
  readonly kind: 'resend';
  readonly ref: Ref;
  /** The delivery id of a message, which is claimed; null for a dispatch that has run. */
  readonly key: ClaimKey | null;
  readonly again: boolean;
  readonly now: number;
}

/** Stores a dispatch in its coalesce group, due at the group's end; the one that it replaces is skipped. */
export interface JoinGroup {
  readonly kind: 'join_group';
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  readonly key: string;
  readonly limits: GroupLimits;
  /** Counts the run against these limits, if the event opens a group. */
  readonly run_limits?: readonly RunLimit[];
  /** In which its run is reserved, if the event opens a group. */
  readonly budgets?: readonly BudgetSpan[];
  readonly now: number;
}

/** Makes the dispatches of all groups due, so that a stop loses nothing (§3.2). */
export interface FlushGroups {
  readonly kind: 'flush_groups';
  readonly now: number;
}

/** The run would be one too many: nothing but its count was stored. */
export interface OverLimit {
  readonly kind: 'over_limit';
  readonly limit: RunLimit;
  /** Unix ms at which the pause ends; null: there is none. */
  readonly until: number | null;
}

/** The route is paused and cannot hold the event, because its sender waits: nothing was stored. */
export interface RoutePaused {
  readonly kind: 'route_paused';
  /** Unix ms at which the pause ends; null: nobody knows. */
  readonly until: number | null;
}
