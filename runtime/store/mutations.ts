/**
 * Every change a store can make, as plain data: the same for each engine, and able to cross a thread or a socket.
 * Mutations take effect in the order in which they were written, each entirely or not at all.
 *
 * Work is pulled. A dispatch that waits for its run, and each of its deliveries, is a row with the instant at which it
 * is due. `take_work` marks due rows as held by a process and returns them; `advance` and `record_attempt` end or
 * reschedule what was taken; `recover` makes due again what is held by a process that is gone.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { GroupLimits } from './group.ts';
import type { ClaimKey, Holder, Ref, StoredClaim } from './identity.ts';
import type { JobMutation, JobMutationResults } from './job-mutations.ts';
import type { Recover, Recovered } from './recover.ts';
import type { RetentionMutation, RetentionMutationResults } from './retention-mutations.ts';
import type { DispatchState, FinalState } from './states.ts';
import type { Step } from './step.ts';

export type { ClaimKey, Holder, Ref, Step, StoredClaim };

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
  /** `later`: the id is only checked now, and claimed by the change that records success. */
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
 *
 * When its outcome is in doubt it is not repeated, as it would take other rows: `recover` gives back what it may have taken.
 */
export interface TakeWork {
  readonly kind: 'take_work';
  readonly holder: Holder;
  readonly now: number;
  /** The most runs to take. */
  readonly runs: number;
  /** The most delivery attempts to take, so that `holder` has at most `attempts_per_target` in each lane. */
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

export type Mutation =
  | Accept
  | JoinGroup
  | FlushGroups
  | TakeWork
  | Advance
  | RecordAttempt
  | Recover
  | RetentionMutation
  | JobMutation;
export type MutationKind = Mutation['kind'];

export interface MutationResults extends JobMutationResults, RetentionMutationResults {
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
  recover: Recovered;
}
