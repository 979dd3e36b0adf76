/**
 * All changes that a store can make, as plain data: the same for each engine, and able to cross a thread or a socket.
 * Mutations take effect in the order in which they are written, and each is atomic.
 *
 * Work is pulled. A dispatch that waits for its run, and each of its deliveries, is a row with the instant at which it
 * is due. `take_work` marks due rows as held by a process and returns them; `advance` and `record_attempt` end or
 * reschedule taken work; `recover` releases the work of processes that have ended.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan, OverBudget } from './budget.ts';
import type { AddFigures } from './figures.ts';
import type { GroupLimits } from './group.ts';
import type { PutGuard, RunLimit } from './guard-mutations.ts';
import type { ClaimKey, Holder, Ref, StoredClaim } from './identity.ts';
import type { JobMutation, JobMutationResults } from './job-mutations.ts';
import type { PauseRoute } from './pauses.ts';
import type { DispatchState, FinalState, ProgramEnd, Step, Waiting } from './states.ts';
import type { RunUsage } from './usage.ts';

export type { ClaimKey, Holder, Ref, Step, StoredClaim, Waiting };

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

/**
 * Takes due work: runs become `running`, and runs and attempts are held by `holder`. A route that is paused has no due runs. Lanes take turns (runs: a lane for
 * each profile, route and agent; attempts: for each profile and target); within a lane, rows are ordered by due time, then by
 * ref. Of a session one run is open to be taken or under way: the others wait for their turn, in the order of acceptance,
 * and the end of each run makes the next one due (unit.ts). Turns continue from one call to the next: the lane that was served longest ago comes first, so that taking one row
 * at a time is as fair as taking ten. Taking a run that waits in a group closes the group.
 *
 * When its outcome is in doubt, it is not repeated, because it would take other rows: `recover` releases what it may have
 * taken.
 */
export interface TakeWork {
  readonly kind: 'take_work';
  readonly holder: Holder;
  readonly now: number;
  /** Most runs to take. */
  readonly runs: number;
  /** Most delivery attempts to take; `holder` gets at most `attempts_per_target` in each lane. */
  readonly attempts: number;
  readonly attempts_per_target: number;
  /** Agents with a limit of runs at once, over all processes. */
  readonly agents?: readonly AgentLimit[];
}

export interface AgentLimit {
  readonly profile: string;
  /** Null: the default one. */
  readonly agent: string | null;
  readonly max_concurrent: number;
}

export interface TakenRun {
  readonly ref: Ref;
  readonly profile: string;
  readonly route: string | null;
  /** Number of its runs that have failed. */
  readonly failed: number;
}

export interface TakenAttempt {
  readonly ref: Ref;
  readonly index: number;
  /** It is not approved: rejected, or nobody has answered in time. */
  readonly waiting?: Waiting;
}

export interface TakenWork {
  readonly runs: readonly TakenRun[];
  readonly attempts: readonly TakenAttempt[];
  /** Number of dispatches that still wait for a run, without those in groups and of paused routes. */
  readonly waiting: number;
  /** Unix ms at which the next row falls due; null: there is none. Rows that are due already do not count. */
  readonly next_due_at: number | null;
}

/**
 * Begins a run that `holder` has taken and whose tokens or cost are limited. One that has to wait for others under way is pending
 * again; one whose budget is full is skipped, with the reason `budget`.
 */
export interface BeginRun {
  readonly kind: 'begin_run';
  readonly ref: Ref;
  readonly holder: Holder;
  readonly budgets: readonly BudgetSpan[];
  readonly at: number;
}

/** Moves a dispatch that `holder` has taken to another state, with its answer and steps. */
export interface Advance {
  readonly kind: 'advance';
  readonly ref: Ref;
  readonly holder: Holder;
  readonly to: 'pending' | 'delivering' | FinalState;
  readonly at: number;
  readonly reason?: string;
  /** Unix ms at which the run began. */
  readonly started_at?: number;
  /** Earliest Unix ms of the next run, for `pending`; default `at`. */
  readonly due_at?: number;
  readonly answer?: string;
  /** The end of the program that answered. */
  readonly program?: ProgramEnd;
  /** Of the run that has ended with this change. */
  readonly usage?: RunUsage;
  /** To which that is added. */
  readonly budgets?: readonly BudgetSpan[];
  readonly steps?: readonly Step[];
  /** For `delivering`: the deliveries that have not ended, at least one. The others have ended, as `steps` record. */
  readonly open?: readonly OpenDelivery[];
  /** For `delivering` without `open`: `holder` goes on delivering it while the sender waits. */
  readonly held?: true;
  /** The delivery id to claim with this change. */
  readonly claim?: StoredClaim;
  /** The dispatch with the outputs of its run: `open` names their deliveries as well. */
  readonly dispatch?: Dispatch;
  /** By how many bytes it has grown. */
  readonly grown?: number;
}

/** Records a delivery attempt that `holder` has taken, or releases it without an attempt. */
export interface RecordAttempt {
  readonly kind: 'record_attempt';
  readonly ref: Ref;
  readonly index: number;
  readonly holder: Holder;
  readonly at: number;
  /** Null: no attempt counts (paced, or cancelled by a stop). */
  readonly step: Step | null;
  /** Unix ms of the next attempt; null: the delivery has ended, with the outcome of the step. */
  readonly due_at: number | null;
  /** The delivery id of a message: if this ends the dispatch, it is claimed when that is done, and free when it is dead. */
  readonly key?: ClaimKey;
}

/** A person answers a delivery that waits for an approval: what is approved is due at once, what is rejected ends unsent. */
export interface AnswerApproval {
  readonly kind: 'answer_approval';
  readonly ref: Ref;
  readonly index: number;
  /** Since when it has waited, as it was read: another text of a later attempt waits since then. */
  readonly since: number;
  readonly approve: boolean;
  readonly by: string;
  readonly reason: string | null;
  readonly now: number;
}

/** Stores the message that tells somebody of a delivery that waits for an approval, unless it is told already. */
export interface TellApproval {
  readonly kind: 'tell_approval';
  readonly ref: Ref;
  readonly index: number;
  /** A message, due at once, whose targets are its deliveries. */
  readonly dispatch: Dispatch;
  readonly now: number;
}

/** Ends a dispatch of which a stored value is damaged: it is dead, and its deliveries have ended. */
export interface GiveUp {
  readonly kind: 'give_up';
  readonly ref: Ref;
  readonly at: number;
  readonly reason: string;
}

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

/** Examines `limit` claims after the key `after` ('': the first ones) and removes those that have expired by `now`. */
export interface ExpireClaims {
  readonly kind: 'expire_claims';
  readonly now: number;
  readonly after: string;
  readonly limit: number;
}

/**
 * Examines `limit` dispatches after `after` and removes those that ended before `before` (Unix ms). The newest dispatch is
 * kept, so that its number is not reused.
 */
export interface Cleanup {
  readonly kind: 'cleanup';
  readonly before: number;
  readonly after: Ref;
  readonly limit: number;
}

/** Removes at most `limit` ended dispatches, oldest first and never the newest, while the store is larger than `max_bytes`. */
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
  | GiveUp
  | AnswerApproval
  | TellApproval
  | Resend
  | Recover
  | ExpireClaims
  | Cleanup
  | Trim
  | PutGuard
  | PauseRoute
  | AddFigures
  | BeginRun
  | JobMutation;
export type MutationKind = Mutation['kind'];

/** The run would be one too many: nothing but its count was stored. */
export interface OverLimit {
  readonly kind: 'over_limit';
  readonly limit: RunLimit;
  /** Unix ms at which the pause ends; null: there is none. */
  readonly until: number | null;
}

/** The route is paused, and the sender waits for the delivery: nothing was stored. */
export interface RoutePaused {
  readonly kind: 'paused';
  /** Unix ms at which the pause ends; null: nobody knows. */
  readonly until: number | null;
}

export interface MutationResults extends JobMutationResults {
  /** `held`: another request is delivering this message. A paused route holds what waits for nobody. */
  accept:
    | { readonly kind: 'stored'; readonly ref: Ref; readonly continued?: Continued }
    | { readonly kind: 'duplicate' }
    | { readonly kind: 'held' }
    | RoutePaused
    | OverLimit
    | OverBudget;
  join_group:
    | { readonly kind: 'stored'; readonly ref: Ref; readonly superseded: number; readonly due_at: number }
    | { readonly kind: 'duplicate' }
    | OverLimit
    | OverBudget;
  flush_groups: null;
  take_work: TakenWork;
  /** False: the dispatch is unknown, held by another process, or has ended. */
  advance: boolean;
  /**
   * The state of the dispatch afterwards: `delivering` without a reason while a delivery is left, otherwise its final
   * state. Null where `advance` returns false.
   */
  record_attempt: {
    readonly state: Exclude<DispatchState, 'pending' | 'running'>;
    readonly reason: string | null;
  } | null;
  /** False: the dispatch is unknown, or has ended. */
  give_up: boolean;
  /** False: it does not wait, or not since then. */
  answer_approval: boolean;
  /** False: it does not wait, or is told already; nothing was stored. */
  tell_approval: boolean;
  /** `superseded`: the message of this delivery id is in the row `by`. */
  resend: { readonly kind: 'stored' | 'unknown' | 'open' | 'done' } | { readonly kind: 'superseded'; readonly by: Ref };
  recover: Recovered;
  /** `next`: where to continue; null at the end. */
  expire_claims: { readonly removed: number; readonly next: string | null };
  /** `next`: where to continue; null at the end. */
  cleanup: { readonly removed: number; readonly next: Ref | null };
  /** `bytes`: the size of the store afterwards. */
  trim: { readonly removed: number; readonly bytes: number };
  /** `gone`: the dispatch is unknown, held by another process, or has ended. */
  begin_run: OverBudget | { readonly kind: 'begun' | 'waiting' | 'gone' };
  /** False: the row is not as expected, and nothing was stored. */
  put_guard: boolean;
  pause_route: null;
  add_figures: null;
}
