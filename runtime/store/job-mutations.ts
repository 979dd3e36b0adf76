/**
 * The records of scheduled jobs, and all changes to them.
 *
 * A job has at most one run at a time and at most one run for each instant. Both are decided inside the transaction that
 * stores the run's dispatch, so neither a crash nor a second process can interfere. The `cursor` is the latest handled
 * instant; instants before it never fire, whatever the clock does.
 */
import type { FireJob, PauseJob, PutJob, RemoveJob, WatchJob } from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { OverBudget } from './budget.ts';
import type { Ref } from './identity.ts';

export type {
  FireJob,
  JobRecord,
  PauseJob,
  PutJob,
  RemoveJob,
  WatchJob,
} from '../../schemas/built/operations/types.ts';

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

/** Records an instant at which a job was due, and fires the job. */
export interface TickJob extends Omit<FireJob, 'kind' | 'dispatch' | 'claim' | 'even_paused'> {
  readonly kind: 'tick_job';
  readonly due_at: number;
  /** Null: the instant was missed, and the job does not fire. */
  readonly dispatch: Dispatch | null;
  readonly missed: number;
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
