/** What commands and the console show of the routes and jobs that a gateway serves. */
import type { RoutePlan } from '../../schemas/generated/types.ts';
import type { Job } from '../dispatch/scheduler/job.ts';
import type { JobTick } from '../store/job-mutations.ts';
import type { Pause } from '../store/pauses.ts';
import type { DispatchSummary } from '../store/queries.ts';

export type RouteState = 'serving' | 'disabled' | 'quarantined' | 'shadowed' | 'unreachable';

export interface RouteRow {
  readonly id: string;
  readonly name: string;
  readonly kind: 'static' | 'dynamic';
  readonly state: RouteState;
  /** While it holds its events; `until` null: until it is resumed. Unix ms. */
  readonly paused: Pause | null;
  /** Why it is not serving; null when it is, or was switched off. */
  readonly reason: string | null;
  readonly url: string;
  /** Null for a quarantined entry. */
  readonly mode: RoutePlan['mode'] | null;
  /** The usual name of the sender it is pinned to; null: the headers of a request decide. */
  readonly source: string | null;
  readonly events: readonly string[];
  readonly deliver: readonly string[];
  readonly cron_job: string | null;
  readonly profile: string;
  readonly description: string | null;
  /** Null: those of the profile. Any other value was written by hand. */
  readonly toolsets: readonly string[] | null;
  /** Secrets accepted now; more than one during a rotation. */
  readonly secrets: number;
}

export interface RouteReport extends Omit<RouteRow, 'id'> {
  /** What it does, a sentence each. */
  readonly words: readonly string[];
}

export interface JobRun {
  readonly id: string;
  /** ISO instants. */
  readonly started_at: string;
  readonly due_at: string | null;
  /** `schedule`, `manual`, or the type of the event that fired it. */
  readonly event: string;
  readonly state: DispatchSummary['state'];
  readonly reason: string | null;
}

type Told = 'id' | 'name' | 'profile' | 'kind' | 'description' | 'paused' | 'schedule' | 'timezone' | 'misfire';

export interface JobReport extends Pick<Job, Told> {
  /** `queued`: its run waits for its turn, or for a gateway. */
  readonly state: 'active' | 'paused' | 'queued' | 'running';
  /** ISO instant at which a pause ends by itself; null: it does not, or it is not paused. */
  readonly paused_until: string | null;
  readonly schedule_human: string;
  readonly deliver: readonly string[];
  /** ISO instants of the next runs; empty when paused without an end or when it never fires. */
  readonly next_runs: readonly string[];
  /** Newest first. */
  readonly runs: readonly JobRun[];
  /** Instants at which nothing fired, as far as they are recorded. */
  readonly missed: number;
  readonly ticks: readonly JobTick[];
}
