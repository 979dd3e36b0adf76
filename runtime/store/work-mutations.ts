/**
 * The changes of stored work. Work is pulled: a dispatch that waits for its run, and each of its deliveries, is a row with the
 * instant at which it is due. `take_work` marks due rows as held by a process and returns them; `advance` and
 * `record_attempt` end or reschedule taken work; `recover` releases the work of processes that have ended.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan } from './budget.ts';
import type { OpenDelivery } from './event-mutations.ts';
import type { ClaimKey, Holder, Ref, StoredClaim } from './identity.ts';
import type { FinalState, ProgramEnd, Step, Waiting } from './states.ts';
import type { RunUsage } from './usage.ts';

export type { AnswerApproval } from '../../schemas/built/operations/types.ts';

/**
 * Takes due work: runs become `running`, and runs and attempts are held by `holder`. A route that is paused has no due runs.
 *
 * Lanes take turns (runs: a lane for each profile, route and agent; attempts: for each profile and target); within a lane, rows
 * are ordered by due time, then by ref. Turns continue from one call to the next: the lane that was served longest ago comes
 * first, so that taking one row at a time is as fair as taking ten. Of a session one run is open to be taken or under way: the
 * others wait for their turn, in the order of acceptance, and the end of each run makes the next one due (unit.ts). Taking a
 * run that waits in a group closes the group.
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
 * Begins a run that `holder` has taken and whose tokens or cost are limited, or that an event fires. Without a rest of its budget
 * it is skipped, with the reason `budget`; an event that its route has held and that finds its job running or paused, with
 * `job_already_running` or `job_paused`.
 */
export interface BeginRun {
  readonly kind: 'begin_run';
  readonly ref: Ref;
  readonly holder: Holder;
  readonly budgets: readonly BudgetSpan[];
  /** Of an event that fires a job. `paused`: as configured. */
  readonly job: { readonly id: string; readonly paused: boolean } | null;
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
  /** A message to `on_failure`, due at once, whose targets are its deliveries. */
  readonly message?: Dispatch;
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
