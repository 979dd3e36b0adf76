/**
 * What the store keeps of scheduled jobs, and every change it can make to it.
 *
 * A job has at most one run at a time and at most one run for an instant it was due: both are decided inside the
 * transaction that stores the run's dispatch, so neither a crash nor a second process comes between. The `cursor` is the
 * latest instant that has been dealt with; what lies before it never fires, whatever the clock does.
 */
import type { DeliveryPlan, Dispatch } from '../../schemas/generated/types.ts';
import type { Ref, StoredClaim } from './identity.ts';

/** A job made at run time; those of the config live in the route table. */
export interface JobRecord {
  /** Unique among all jobs, never used twice. */
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
  readonly skills: readonly string[];
  /** Null: those of the profile. */
  readonly toolsets: readonly string[] | null;
  readonly misfire: 'skip' | 'once';
  /** Unix ms. */
  readonly created_at: number;
  readonly blueprint: { readonly key: string; readonly values: Readonly<Record<string, string>> } | null;
}

/** Where a job stands, of the config or of the store. */
export interface JobState {
  /** What the user has said at run time; null: as it is configured. */
  readonly paused: boolean | null;
  /** Unix ms; null before a scheduler has seen the job. */
  readonly cursor: number | null;
  /** Schedule and zone the cursor belongs to. */
  readonly signature: string | null;
  /** Its latest run. */
  readonly ref: Ref | null;
}

/** What became of an instant at which a job was due. */
export interface JobTick {
  /** Unix ms. */
  readonly due_at: number;
  /** `overlapped`: the run before was still under way. */
  readonly outcome: 'fired' | 'missed' | 'overlapped';
  readonly ref: Ref | null;
  /** Instants up to here at which nothing fired because no gateway was running; with `missed` this one is among them. */
  readonly missed: number;
}

/** `new`: fails when the profile has a job of that name. `old`: fails when there is no job of that id. */
export interface PutJob {
  readonly kind: 'put_job';
  readonly job: JobRecord;
  readonly expect: 'new' | 'old';
  /**
   * Names that jobs of the config have. Given: a taken name is not refused, the job is stored under the first free one
   * of `name-2`, `name-3`, …
   */
  readonly numbered_beside?: readonly string[];
}

/** Its history stays until its retention ends. */
export interface RemoveJob {
  readonly kind: 'remove_job';
  readonly id: string;
}

/** A resumed job continues from now: what was due meanwhile does not count as missed. */
export interface PauseJob {
  readonly kind: 'pause_job';
  readonly job: string;
  readonly paused: boolean;
  readonly now: number;
}

/** A scheduler sees a job for the first time, or with another schedule: it counts from now on. */
export interface WatchJob {
  readonly kind: 'watch_job';
  readonly job: string;
  readonly signature: string;
  readonly now: number;
}

interface Firing {
  readonly job: string;
  /** As configured, for a job about which the user has said nothing at run time. */
  readonly paused: boolean;
  readonly now: number;
}

/** Deals with an instant at which a job was due. */
export interface TickJob extends Firing {
  readonly kind: 'tick_job';
  readonly due_at: number;
  /** Null: nothing fires, the instant was missed. */
  readonly dispatch: Dispatch | null;
  readonly missed: number;
}

/** Fires a job out of turn: for an event, or by hand. */
export interface FireJob extends Firing {
  readonly kind: 'fire_job';
  readonly dispatch: Dispatch;
  /** The event's delivery id; also held when the job is running already, for then the event has been answered. */
  readonly claim: StoredClaim | null;
  /** By hand a paused job can be tried. */
  readonly even_paused: boolean;
}

/** Removes at most `limit` records of instants before `before` (unix ms). */
export interface ForgetTicks {
  readonly kind: 'forget_ticks';
  readonly before: number;
  readonly limit: number;
}

export type JobMutation = PutJob | RemoveJob | PauseJob | WatchJob | TickJob | FireJob | ForgetTicks;

export interface JobMutationResults {
  /** `name`: under which it was stored. */
  put_job: { readonly kind: 'stored'; readonly name: string } | { readonly kind: 'name_taken' | 'unknown' };
  /** False: there was none. */
  remove_job: boolean;
  pause_job: null;
  watch_job: null;
  /** `claimed`: the instant was dealt with before. */
  tick_job:
    | { readonly kind: 'stored'; readonly ref: Ref }
    | { readonly kind: 'claimed' | 'missed' | 'running' | 'paused' };
  fire_job: { readonly kind: 'stored'; readonly ref: Ref } | { readonly kind: 'duplicate' | 'running' | 'paused' };
  /** Number removed. */
  forget_ticks: number;
}

export const NO_STATE: JobState = { paused: null, cursor: null, signature: null, ref: null };
