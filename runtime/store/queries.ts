/** Every query of a store, as plain data. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { JobRecord, JobState, JobTick } from './job-mutations.ts';
import type { ClaimKey, Ref, Step } from './mutations.ts';
import type { DispatchState } from './states.ts';

/** One line of a list. */
export interface DispatchSummary {
  readonly ref: Ref;
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly mode: Dispatch['mode'];
  readonly event: string;
  readonly delivery_id: string;
  readonly accepted_at: number;
  readonly state: DispatchState;
  readonly started_at: number | null;
  readonly answered_at: number | null;
  readonly finished_at: number | null;
  readonly reason: string | null;
  readonly replay_of: string | null;
}

/** Everything known of one dispatch. */
export interface StoredDispatch extends DispatchSummary {
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly answer: string | null;
  /** In the order in which they happened. */
  readonly steps: readonly Step[];
}

export interface ListFilter {
  readonly state?: DispatchState;
  readonly route?: string;
  readonly job?: string;
  /** Accepted at or after, unix ms. */
  readonly since?: number;
  /** Only those stored before this one: the way to the next page. */
  readonly before?: Ref;
  readonly limit: number;
}

/** Counts of one route since the store was created. `removed`: ended ones that retention has taken away. */
export interface Tally extends Readonly<Record<DispatchState, number>> {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly accepted: number;
  readonly removed: number;
}

export interface LastError {
  readonly id: string;
  readonly route: string | null;
  readonly at: number;
  readonly reason: string;
}

/** What waits, over all processes. */
export interface Backlog {
  readonly runs: number;
  /** Delivery attempts that are due. */
  readonly deliveries: number;
  /** Deliveries that wait for their next attempt. */
  readonly deliveries_delayed: number;
  readonly groups: number;
}

/** What was lost or found broken in the store's file, for `doctor` and `gateway status`. */
export interface DamageReport {
  /** Unix ms at which it was found. */
  readonly at: number;
  readonly message: string;
  /** Absolute path of the copy of the damaged file; null: none could be made. */
  readonly copy: string | null;
}

export interface StoreOverview {
  readonly tallies: readonly Tally[];
  readonly backlog: Backlog;
  /** Unix ms at which the oldest unfinished dispatch was accepted. */
  readonly oldest_open_at: number | null;
  readonly last_error: LastError | null;
  readonly bytes: number;
  readonly damage: DamageReport | null;
}

/** How much of what was accepted has not ended and needs a target: runs that wait or are under way, and deliveries. */
export interface OpenWork {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly job: string | null;
  /** Null: of runs that deliver nowhere. */
  readonly target: string | null;
  readonly count: number;
}

/** A gateway of those that share the store: each that has not ended, and the latest start of each that has. */
export interface StoredNode {
  /** Number of its start. */
  readonly node: number;
  readonly url: string;
  /** Of its program. */
  readonly version: string;
  /** Hash of the table it serves; null: it has none. */
  readonly table: string | null;
  /** Unix ms. */
  readonly started_at: number;
  /** Unix ms; that of its end where it has ended. */
  readonly lease_expires_at: number;
  /** `lost`: its lease has ended by itself. */
  readonly state: 'serving' | 'stopped' | 'lost';
  /** What keeps it from serving what the others serve; null: nothing. */
  readonly problem: string | null;
  /** Unix ms at which this was read, by the same clock. */
  readonly read_at: number;
}

export type Query =
  /** Whether a delivery id is claimed. */
  | { readonly kind: 'is_claimed'; readonly key: ClaimKey; readonly now: number }
  | { readonly kind: 'load'; readonly ref: Ref }
  /** By id, or by the beginning of one that no other dispatch shares. */
  | { readonly kind: 'find'; readonly id: string }
  /** Newest first. */
  | { readonly kind: 'list'; readonly filter: ListFilter }
  /** `now`: what is due by then, in unix ms, counts as due. */
  | { readonly kind: 'overview'; readonly now: number }
  /** One row for each profile, route, job and target. Reads every open dispatch. */
  | { readonly kind: 'open_work' }
  /** Jobs made at run time by name, and where every job stands. */
  | { readonly kind: 'jobs' }
  /** Grows with every change a user makes to a job. */
  | { readonly kind: 'jobs_version' }
  /** The job has a run that waits or is under way. */
  | { readonly kind: 'job_running'; readonly job: string }
  /** Newest first. */
  | { readonly kind: 'job_ticks'; readonly job: string; readonly limit: number }
  /** In the order of their starts; none where one process has the store for itself. */
  | { readonly kind: 'nodes' }
  /** What does not add up, one line each: accepted = done + dead + skipped + pending + running + delivering. Slow. */
  | { readonly kind: 'audit' };
export type QueryKind = Query['kind'];

export interface StoredJobs {
  readonly version: number;
  readonly records: readonly JobRecord[];
  /** The state of every job that has one, by id. */
  readonly states: Readonly<Record<string, JobState>>;
}

export interface QueryResults {
  is_claimed: boolean;
  load: StoredDispatch | null;
  find: { readonly kind: 'found'; readonly dispatch: StoredDispatch } | { readonly kind: 'unknown' | 'ambiguous' };
  list: readonly DispatchSummary[];
  overview: StoreOverview;
  open_work: readonly OpenWork[];
  jobs: StoredJobs;
  jobs_version: number;
  job_running: boolean;
  job_ticks: readonly JobTick[];
  nodes: readonly StoredNode[];
  audit: readonly string[];
}

/** What answers each query in an engine. */
export type QueryHandlers = {
  readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>) => QueryResults[K];
};
