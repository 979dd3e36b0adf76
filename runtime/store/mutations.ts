/**
 * Every change a store can make, as plain data: the same for each implementation, and able to cross a thread boundary.
 * Mutations take effect in the order in which they were written, each entirely or not at all.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { GroupLimits } from '../coalesce/group.ts';
import type { JobMutation, JobMutationResults } from './job-mutations.ts';
import type { DispatchState } from './states.ts';

/** A stored dispatch's number: grows with the order of storing, never used twice. */
export type Ref = number;

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

/** Stores a dispatch. When its delivery id is claimed already it is a duplicate, and nothing is stored. */
export interface Accept {
  readonly kind: 'accept';
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  /** `later`: the id is only looked at now, and claimed by the change that records success. */
  readonly claiming: 'now' | 'later';
  /** `delivering`: nothing is to be run, for direct deliveries and for answers that are delivered again. */
  readonly state: 'pending' | 'delivering';
  readonly answer?: string;
  readonly now: number;
  /** Written beside a running server, which takes it up from the inbox. */
  readonly inbox: boolean;
}

/** Stores a dispatch as the waiting one of its group; the one it replaces is skipped. */
export interface Coalesce {
  readonly kind: 'coalesce';
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  readonly key: string;
  readonly limits: GroupLimits;
  readonly now: number;
}

/** Ends a group whose waiting dispatch is still `ref`: it may run. */
export interface Release {
  readonly kind: 'release';
  readonly profile: string;
  readonly route: string;
  readonly key: string;
  readonly ref: Ref;
  readonly now: number;
}

/** Moves a dispatch to a state, with what happened on the way. */
export interface Advance {
  readonly kind: 'advance';
  readonly ref: Ref;
  readonly to: DispatchState;
  readonly at: number;
  readonly reason?: string;
  /** Unix ms at which the run began, when that was not recorded by a change to `running`. */
  readonly started_at?: number;
  /** Earliest unix ms of the next run, for `pending`. */
  readonly ready_at?: number;
  readonly answer?: string;
  readonly steps?: readonly Step[];
  /** The delivery id to claim with this change. */
  readonly claim?: StoredClaim;
}

/** Takes dispatches out of the inbox. */
export interface TakeInbox {
  readonly kind: 'take_inbox';
  readonly refs: readonly Ref[];
}

/** Looks at `limit` claims after the key `after` ('': the first ones) and removes those that have expired by `now`. */
export interface ExpireClaims {
  readonly kind: 'expire_claims';
  readonly now: number;
  readonly after: string;
  readonly limit: number;
}

/** Looks at `limit` dispatches after `after` and removes those that ended before `before` (unix ms). */
export interface Cleanup {
  readonly kind: 'cleanup';
  readonly before: number;
  readonly after: Ref;
  readonly limit: number;
}

export type Mutation = Accept | Coalesce | Release | Advance | TakeInbox | ExpireClaims | Cleanup | JobMutation;
export type MutationKind = Mutation['kind'];

export interface MutationResults extends JobMutationResults {
  accept: { readonly kind: 'stored'; readonly ref: Ref } | { readonly kind: 'duplicate' };
  coalesce:
    | {
        readonly kind: 'stored';
        readonly ref: Ref;
        readonly superseded: number;
        readonly due_at: number;
        readonly max_wait_ms: number;
      }
    | { readonly kind: 'duplicate' };
  /** False: the group has moved on. */
  release: boolean;
  /** False: unknown, or the way is barred because the dispatch has ended. */
  advance: boolean;
  take_inbox: null;
  /** `next`: where to go on; null at the end. */
  expire_claims: { readonly removed: number; readonly next: string | null };
  /** `next`: where to go on; null at the end. */
  cleanup: { readonly removed: number; readonly next: Ref | null };
}

/** One function per kind of change: a store is such a table and a way to commit. */
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
