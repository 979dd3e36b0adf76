/**
 * The records of scheduled jobs, and all changes to them.
 *
 * A job has at most one run at a time and at most one run for each instant. Both are decided inside the transaction that
 * stores the run's dispatch, so neither a crash nor a second process can interfere. The `cursor` is the latest handled
 * instant; instants before it never fire, whatever the clock does.
 */
import type { BudgetPlan, DeliveryPlan, Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan, OverBudget } from './budget.ts';
import type { Ref, StoredClaim } from './identity.ts';

/** A job created at run time; those of the config are in the route table. */
export interface JobRecord {
  /** Unique among all jobs; never reused. */
  readonly id: string;
  readonly profile: string;
  readonly name: string;
  readonly description: string | null;
  /** Five-field cron expression. */
  readonly schedule: string;
  /** IANA zone. */
  readonly timezone: string;
  readonly prompt: string;
  readonly deliver: readonly DeliveryPlan[];
  /** `none`: the prompt is the message. Absent or null: the profile's agent. */
  readonly agent?: string | null;
  readonly skills: readonly string[];
  /** Null: those of the profile. */
  readonly toolsets: readonly string[] | null;
  readonly misfire: 'skip' | 'once';
  /** Absent: none. */
  readonly budget?: BudgetPlan;
  /** Unix ms. */
  readonly created_at: number;
  readonly blueprint: { readonly key: string; readonly values: Readonly<Record<string, string>> } | null;
}

/** The state of a job, static or dynamic. */
export interface JobState {
  /** Set by pause and resume; null: as configured. */
  readonly paused: boolean | null;
  /** Unix ms at which that pause ends by itself; null: it does not. */
  readonly paused_until: number | null;
  /** Unix ms; null before a scheduler has seen the job. */
  readonly cursor: number | null;
  /** The schedule and zone that the cursor belongs to (`jobSignature`). */
  readonly signature: string | null;
  /** Its latest run. */
  readonly ref: Ref | null;
}

/** The record of an instant at which a job was due. */
export interface JobTick {
  /** Unix ms. */
  readonly due_at: number;
  /** `overlapped`: the previous run was still under way. `budget`: a budget was full. */
  readonly outcome: 'fired' | 'missed' | 'overlapped' | 'budget';
  readonly ref: Ref | null;
  /** Number of instants up to this one at which nothing fired because no gateway ran; includes this one if `missed`. */
  readonly missed: number;
}

/** `new`: fails when the profile has a job with this name. `old`: fails when there is no job with this id. */
export interface PutJob {
  readonly kind: 'put_job';
  readonly job: JobRecord;
  readonly expect: 'new' | 'old';
  /**
   * Names of jobs in the config. If set, a taken name is not refused; the job is stored under the first free name of
   * `name-2`, `name-3`, …
   */
  readonly numbered_beside?: readonly string[];
}

/** Removes the job; its history is kept until retention removes it. */
export interface RemoveJob {
  readonly kind: 'remove_job';
  readonly id: string;
}

/** Pauses or resumes a job. A resumed job continues from now: instants in between do not count as missed. */
export interface PauseJob {
  readonly kind: 'pause_job';
  readonly job: string;
  readonly paused: boolean;
  /** Unix ms at which the pause ends by itself; left out or null: it does not. */
  readonly until?: number | null;
  readonly now: number;
}

/** Sets the cursor of a job that a scheduler sees for the first time, or with another schedule. */
export interface WatchJob {
  readonly kind: 'watch_job';
  readonly job: string;
  readonly signature: string;
  readonly now: number;
}

interface Firing {
  readonly job: string;
  /** As configured; used unless the job was paused or resumed at run time. */
  readonly paused: boolean;
  /** In which the run is reserved; left out: it has none. */
  readonly budgets?: readonly BudgetSpan[];
  readonly now: number;
}

/** Records an instant at which a job was due, and fires the job. */
export interface TickJob extends Firing {
  readonly kind: 'tick_job';
  readonly due_at: number;
  /** Null: the instant was missed, and the job does not fire. */
  readonly dispatch: Dispatch | null;
  readonly missed: number;
}

/** Fires a job outside its schedule: for an event, or by hand. */
export interface FireJob extends Firing {
  readonly kind: 'fire_job';
  readonly dispatch: Dispatch;
  /** The event's delivery id; also claimed when the job is already running, because the event is answered then too. */
  readonly claim: StoredClaim | null;
  /** Fire a paused job too: for a run by hand. */
  readonly even_paused: boolean;
}

/** Removes at most `limit` records of instants before `before` (Unix ms). */
export interface ForgetTicks {
  readonly kind: 'forget_ticks';
  readonly before: number;
  readonly limit: number;
}

export type JobMutation = PutJob | RemoveJob | PauseJob | WatchJob | TickJob | FireJob | ForgetTicks;

export interface JobMutationResults {
  /** `name`: the name under which it was stored. */
  put_job: { readonly kind: 'stored'; readonly name: string } | { readonly kind: 'name_taken' | 'unknown' };
  /** False when there is no such job. */
  remove_job: boolean;
  pause_job: null;
  watch_job: null;
  /** `claimed`: the instant has been handled already. */
  tick_job:
    | { readonly kind: 'stored'; readonly ref: Ref }
    | { readonly kind: 'claimed' | 'missed' | 'running' | 'paused' }
    | OverBudget;
  fire_job:
    | { readonly kind: 'stored'; readonly ref: Ref }
    | { readonly kind: 'duplicate' | 'running' | 'paused' }
    | OverBudget;
  /** Number removed. */
  forget_ticks: number;
}

export const NO_STATE: JobState = { paused: null, paused_until: null, cursor: null, signature: null, ref: null };

/** Unix ms at which the pause of a user ends or has ended by itself; null: it does not, or there is none. */
export const pauseEnd = ({ paused, paused_until }: Pick<JobState, 'paused' | 'paused_until'>): number | null =>
  paused === true ? paused_until : null;

/** Whether the job is paused at `now`, by a user or as configured. */
export function isJobPaused(
  state: Pick<JobState, 'paused' | 'paused_until'>,
  configured: boolean,
  now: number,
): boolean {
  const end = pauseEnd(state);
  return state.paused === null || (end !== null && end <= now) ? configured : state.paused;
}
