/**
 * Every change a store can make, as plain data: the same for each engine, and able to cross a thread or a socket.
 * Mutations take effect in the order in which they were written, each entirely or not at all.
 *
 * Work is pulled. A dispatch that waits for its run, and each of its deliveries, is a row with the instant at which it
 * is due. `take_work` marks due rows as held by a process and returns them; `advance` and `record_attempt` end or
 * reschedule what was taken; `recover` makes due again what a process that is gone still held.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { GroupLimits } from './group.ts';
import type { JobMutation, JobMutationResults } from './job-mutations.ts';
import type { DispatchState, FinalState } from './states.ts';

/** A stored dispatch's number: grows with the order of storing, never used twice. */
export type Ref = number;

/** Names the process that works on a row: unique for each start of a gateway. */
export type Holder = string;

export interface ClaimKey {
  readonly profile: string;
  readonly route: string;
  readonly delivery_id: string;
}

/** A delivery id to remember until `expires_at` (unix ms). */
export interface StoredClaim extends ClaimKey {
  readonly expires_at: number;
}

/** What happened in one run or one delivery attempt. */
export interface Step {
  readonly kind: 'run' | 'delivery';
  /** Index of the delivery in the dispatch; null for a run. */
  readonly index: number | null;
  /** `interrupted`: the process or a drain cut it off. Runs are recorded when they did not succeed. */
  readonly outcome: 'ok' | 'failed' | 'interrupted' | 'permanent' | 'retry' | 'ambiguous';
  readonly started_at: number;
  readonly at: number;
  readonly reason: string | null;
  /** Unix ms of the next attempt; null when there is none. */
  readonly next_at: number | null;
  /** Pieces of the text that have arrived so far. */
  readonly sent: number;
  readonly message_id: string | null;
}

/** A delivery that is to be attempted. Its lane is (profile of the dispatch, target). */
export interface OpenDelivery {
  readonly index: number;
  readonly target: string;
  /** Unix ms of the next attempt. */
  readonly due_at: number;
}

/** What a new dispatch waits for. */
export type InitialWork =
  /** A run, due at once. */
  | { readonly kind: 'run' }
  /** Its deliveries, at least one: the answer (null: the prompt) is there already. */
  | { readonly kind: 'deliveries'; readonly answer: string | null; readonly open: readonly OpenDelivery[] }
  /** Nothing: `holder` delivers it while the sender waits. It is dead when that process ends before it says more. */
  | { readonly kind: 'held'; readonly holder: Holder };

/** Stores a dispatch. When its delivery id is claimed already it is a duplicate, and nothing is stored. */
export interface Accept {
  readonly kind: 'accept';
  readonly dispatch: Dispatch;
  /** Runs of its route at once, over all processes; null: no limit. The latest one given applies to the route. */
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  /** `later`: the id is only looked at now, and claimed by the change that records success. */
  readonly claiming: 'now' | 'later';
  readonly work: InitialWork;
  readonly now: number;
}

/** Stores a dispatch as the waiting one of its group, due at the group's end; the one it replaces is skipped. */
export interface JoinGroup {
  readonly kind: 'join_group';
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  readonly key: string;
  readonly limits: GroupLimits;
  readonly now: number;
}

/** Makes the waiting dispatch of every group due (§3.2: a stop drops nothing). */
export interface FlushGroups {
  readonly kind: 'flush_groups';
  readonly now: number;
}

/**
 * Takes what is due: runs become `running`, and both kinds are held by `holder`. Lanes take turns (runs: one for each
 * profile and route; attempts: for each profile and target), each lane in order of due time, then of storing. Turns go on
 * from one call to the next: of two lanes that may, the one that was served longer ago comes first, so that taking one
 * row at a time is as fair as taking ten. A run that was waiting in a group closes the group.
 */
export interface TakeWork {
  readonly kind: 'take_work';
  readonly holder: Holder;
  readonly now: number;
  /** At most so many runs. */
  readonly runs: number;
  /** At most so many delivery attempts, and so that `holder` has at most `attempts_per_target` in each lane. */
  readonly attempts: number;
  readonly attempts_per_target: number;
}

export interface TakenRun {
  readonly ref: Ref;
  readonly profile: string;
  readonly route: string | null;
  /** Runs of it that have failed so far. */
  readonly failed: number;
}

export interface TakenAttempt {
  readonly ref: Ref;
  readonly index: number;
}

export interface TakenWork {
  readonly runs: readonly TakenRun[];
  readonly attempts: readonly TakenAttempt[];
  /** Dispatches that are left waiting for a run, without those in groups. */
  readonly waiting: number;
  /** Unix ms at which the next row falls due that is not due yet; null: there is none. */
  readonly next_due_at: number | null;
}

/** Moves a dispatch that `holder` has taken to a state, with what happened on the way. */
export interface Advance {
  readonly kind: 'advance';
  readonly ref: Ref;
  readonly holder: Holder;
  readonly to: 'pending' | 'delivering' | FinalState;
  readonly at: number;
  readonly reason?: string;
  /** Unix ms at which the run began. */
  readonly started_at?: number;
  /** Earliest unix ms of the next run, for `pending`; default `at`. */
  readonly due_at?: number;
  readonly answer?: string;
  readonly steps?: readonly Step[];
  /** For `delivering`: what is left to be attempted, at least one. What is not named has ended, as `steps` say. */
  readonly open?: readonly OpenDelivery[];
  /** The delivery id to claim with this change. */
  readonly claim?: StoredClaim;
}

/** Records a delivery attempt that `holder` has taken, or gives it back unattempted. */
export interface RecordAttempt {
  readonly kind: 'record_attempt';
  readonly ref: Ref;
  readonly index: number;
  readonly holder: Holder;
  readonly at: number;
  /** Null: the target was not contacted (paced, or cut off by a stop). */
  readonly step: Step | null;
  /** Unix ms of the next attempt; null: the delivery has ended, well or not, as the step says. */
  readonly due_at: number | null;
}

/**
 * Makes due again, with the due time they had, what processes that are gone were holding: runs go back to `pending` with
 * an `interrupted` step, a delivery under way is due, and a dispatch that was `held` is dead (its sender was told nothing
 * and may come again). Every holder but `holder` is gone, in an engine that serves one process; one whose lease has
 * ended, in others.
 *
 * Also repairs what a clock that was set back has done: a row whose due time was set at an instant later than `now` is
 * due as long after `now` as it was to wait then.
 */
export interface Recover {
  readonly kind: 'recover';
  readonly holder: Holder;
  readonly now: number;
}

/** Looks at `limit` claims after the key `after` ('': the first ones) and removes those that have expired by `now`. */
export interface ExpireClaims {
  readonly kind: 'expire_claims';
  readonly now: number;
  readonly after: string;
  readonly limit: number;
}

/**
 * Looks at `limit` dispatches after `after` and removes those that ended before `before` (unix ms). The newest of all
 * stays, so that its number is not given out again.
 */
export interface Cleanup {
  readonly kind: 'cleanup';
  readonly before: number;
  readonly after: Ref;
  readonly limit: number;
}

/** Removes at most `limit` ended dispatches, oldest first, as long as the store is larger than `max_bytes`; never the newest. */
export interface Trim {
  readonly kind: 'trim';
  readonly max_bytes: number;
  readonly limit: number;
}

export type Mutation =
  | Accept
  | JoinGroup
  | FlushGroups
  | TakeWork
  | Advance
  | RecordAttempt
  | Recover
  | ExpireClaims
  | Cleanup
  | Trim
  | JobMutation;
export type MutationKind = Mutation['kind'];

/** A dispatch that `recover` has ended. */
export interface GivenUp {
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly reason: string;
}

export interface MutationResults extends JobMutationResults {
  accept: { readonly kind: 'stored'; readonly ref: Ref } | { readonly kind: 'duplicate' };
  join_group:
    | { readonly kind: 'stored'; readonly ref: Ref; readonly superseded: number; readonly due_at: number }
    | { readonly kind: 'duplicate' };
  flush_groups: null;
  take_work: TakenWork;
  /** False: unknown, held by another process, or the way is barred because the dispatch has ended. */
  advance: boolean;
  /**
   * The state of the dispatch after it: `delivering` with no reason while a delivery is left, else how it has ended
   * (delivery-ending.ts). Null: as for `advance`.
   */
  record_attempt: {
    readonly state: Exclude<DispatchState, 'pending' | 'running'>;
    readonly reason: string | null;
  } | null;
  recover: { readonly runs: number; readonly attempts: number; readonly given_up: readonly GivenUp[] };
  /** `next`: where to go on; null at the end. */
  expire_claims: { readonly removed: number; readonly next: string | null };
  /** `next`: where to go on; null at the end. */
  cleanup: { readonly removed: number; readonly next: Ref | null };
  /** `bytes`: the size of the store afterwards. */
  trim: { readonly removed: number; readonly bytes: number };
}

/** One function per kind of change: an engine is such a table and a way to commit. */
export type MutationHandlers = {
  readonly [K in MutationKind]: (mutation: Extract<Mutation, { kind: K }>) => MutationResults[K];
};

/** Calls the handler of a mutation's kind. */
export function applyMutation<M extends Mutation>(handlers: MutationHandlers, mutation: M): MutationResults[M['kind']] {
  const handler = handlers[mutation.kind] as (mutation: Mutation) => unknown;
  return handler(mutation) as MutationResults[M['kind']];
}

/** True for a change that an operator would call an error: it has a reason, and is no deliberate skip. */
export function isFailure(change: Advance): change is Advance & { readonly reason: string } {
  return change.reason !== undefined && change.to !== 'skipped';
}
