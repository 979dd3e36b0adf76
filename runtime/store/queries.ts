/** All queries of a store, as plain data. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { FigureSum } from './figures.ts';
import type { GuardKind, GuardRow } from './guard-mutations.ts';
import type { ClaimKey, Ref, SessionKey } from './identity.ts';
import type { JobRecord, JobState, JobTick } from './job-mutations.ts';
import type { DispatchState, ProgramEnd, ShownState, Step, Waiting } from './states.ts';
import type { Usage, UsageSum } from './usage.ts';
import type { StoredWaits, Wait } from './waits.ts';

/** A dispatch in a list. */
export interface DispatchSummary extends Wait {
  readonly ref: Ref;
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly mode: Dispatch['mode'];
  readonly event: string;
  readonly delivery_id: string;
  readonly accepted_at: number;
  readonly state: ShownState;
  readonly started_at: number | null;
  readonly answered_at: number | null;
  readonly finished_at: number | null;
  readonly reason: string | null;
  readonly replay_of: string | null;
  /** The named agent that runs it; null: the default one, or none. */
  readonly agent: string | null;
  /** The session in which its runs take turns; null: none. */
  readonly session: string | null;
  /** Its place there: 1 has the turn; more than `MOST_TURNS` are not counted. Null: in none, or its run has ended. */
  readonly turn: number | null;
  /** Of all its runs; null: none has told. */
  readonly usage: Usage | null;
}

/** The highest place in a session that is counted. */
export const MOST_TURNS = 1000;

/** A session in which runs take turns, as long as one waits or is under way. */
export interface BusySession {
  readonly session: string;
  /** That which has the turn. */
  readonly run: DispatchSummary;
  /** Number of runs that wait for their turn. */
  readonly waiting: number;
}

/** What was said in a session: the prompt of a run and its answer. */
export interface SaidTurn {
  /** Of the dispatch. */
  readonly id: string;
  /** Unix ms. */
  readonly accepted_at: number;
  readonly answered_at: number;
  readonly prompt: string;
  readonly answer: string;
}

/** A dispatch with everything that is stored for it. */
export interface StoredDispatch extends DispatchSummary {
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly answer: string | null;
  /** The end of the program that answered; null: no program did. */
  readonly program: ProgramEnd | null;
  /** In the order in which they happened. */
  readonly steps: readonly Step[];
}

export interface ListFilter {
  readonly state?: ShownState;
  readonly route?: string;
  readonly job?: string;
  /** Accepted at or after, unix ms. */
  readonly since?: number;
  /** Only those stored before this one, for the next page. */
  readonly before?: Ref;
  /** Only those that have not ended, the oldest first. */
  readonly oldest_open?: true;
  readonly limit: number;
}

/** Counts of one route since the store was created, by state as it is stored. `removed`: ended dispatches that retention has removed. */
export interface Tally extends Readonly<Record<DispatchState, number>> {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly accepted: number;
  readonly removed: number;
}

export type ShownTally = Tally & Readonly<Record<ShownState, number>>;

export interface LastError {
  readonly id: string;
  readonly route: string | null;
  readonly at: number;
  readonly reason: string;
}

/** Waiting work, over all processes. */
export interface Backlog {
  readonly runs: number;
  /** Deliveries that are due. */
  readonly deliveries: number;
  /** Deliveries that wait for their next attempt. */
  readonly deliveries_delayed: number;
  readonly groups: number;
}

/** Damage or loss found in the store's file, for `doctor` and `gateway status`. */
export interface DamageReport {
  /** Unix ms at which it was found. */
  readonly at: number;
  readonly message: string;
  /** Absolute path of the copy of the damaged file; null when there is none. */
  readonly copy: string | null;
}

export interface StoreOverview {
  readonly tallies: readonly ShownTally[];
  readonly backlog: Backlog;
  /** Unix ms at which the oldest unfinished dispatch was accepted. */
  readonly oldest_open_at: number | null;
  readonly last_error: LastError | null;
  readonly bytes: number;
  readonly damage: DamageReport | null;
}

/** Number of dispatches that have not ended, with the target that each needs: pending or running ones, and deliveries. */
export interface OpenWork {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly job: string | null;
  /** Null: runs without deliveries. */
  readonly target: string | null;
  readonly count: number;
}

/** A delivery that waits for a person. */
export interface WaitingDelivery {
  readonly ref: Ref;
  readonly index: number;
  /** Of its dispatch. */
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  /** Unix ms. */
  readonly since: number;
  /** Unix ms; nobody can approve it from then on. */
  readonly expires_at: number;
  readonly waiting: Exclude<Waiting, 'rejected'>;
}

/** Deliveries of a route or job that were given up and are still stored. */
export interface DeadWork {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly job: string | null;
  readonly count: number;
  /** Unix ms at which the first of them was given up. */
  readonly since: number;
}

/** A gateway that shares the store. The list has each running one, and the latest start of each that has ended. */
export interface StoredNode {
  /** Number of this start. */
  readonly node: number;
  readonly url: string;
  /** Version of hookwright. */
  readonly version: string;
  /** Hash of the table it serves; null: it has none. */
  readonly table: string | null;
  /** Unix ms. */
  readonly started_at: number;
  /** Unix ms; the time of its end when it has ended. */
  readonly lease_expires_at: number;
  /** `lost`: its lease has expired. */
  readonly state: 'serving' | 'stopped' | 'lost';
  /** Why it does not serve what the others serve; null when it does. */
  readonly problem: string | null;
  /** Unix ms at which this was read, by the store's clock. */
  readonly read_at: number;
}

export type Query =
  /** Whether a delivery id is claimed. */
  | { readonly kind: 'is_claimed'; readonly key: ClaimKey; readonly now: number }
  | { readonly kind: 'load'; readonly ref: Ref }
  /** By id, or by a unique prefix of one. */
  | { readonly kind: 'find'; readonly id: string }
  /** Those of these ids whose dispatches have ended. */
  | { readonly kind: 'ended'; readonly ids: readonly string[] }
  /** Newest first. */
  | { readonly kind: 'list'; readonly filter: ListFilter }
  /** The busy sessions of a profile, or of all (null), by the age of the run that has the turn. */
  | { readonly kind: 'sessions'; readonly profile: string | null }
  /** `now`: Unix ms at which work counts as due. */
  | { readonly kind: 'waits'; readonly now: number }
  /** What was said in a session since it was reset, oldest first: the latest `turns`, of together at most `chars` code points. */
  | { readonly kind: 'said'; readonly of: SessionKey; readonly turns: number; readonly chars: number }
  /** `now`: Unix ms at which work counts as due. */
  | { readonly kind: 'overview'; readonly now: number }
  /** One row for each profile, route, job and target. Reads every open dispatch. */
  | { readonly kind: 'open_work' }
  /** One row for each profile, route and job. Reads every dead dispatch. */
  | { readonly kind: 'dead_work' }
  /** Dynamic jobs, sorted by name, and the states of all jobs. */
  | { readonly kind: 'jobs' }
  /** Grows with every change that a user makes to a job. */
  | { readonly kind: 'jobs_version' }
  /** Newest first. */
  | { readonly kind: 'job_ticks'; readonly job: string; readonly limit: number }
  /**
   * Unix ms at which the work fell due that waits longest, without that of routes paused at `now`; in the future if none waits.
   * Null: there is none.
   */
  | { readonly kind: 'oldest_due'; readonly now: number }
  /** What the guard keeps, of one kind; ordered by key. `paused`: of `runs`, without keys that were never paused. */
  | { readonly kind: 'guard_rows'; readonly of: GuardKind; readonly paused?: boolean }
  /**
   * What the stored dispatches have used since `since` (Unix ms), a row for each profile, route, job, agent and span of
   * `slot_ms`.
   */
  | { readonly kind: 'usage'; readonly since: number; readonly slot_ms: number }
  /** Deliveries that wait for a person, the oldest dispatch first. */
  | { readonly kind: 'approvals' }
  /** From the minute of `since` (Unix ms), a row for each span of `slot_ms` that has any; oldest first. */
  | { readonly kind: 'figures'; readonly since: number; readonly slot_ms: number }
  /** In the order of their starts; none for a store of one process. */
  | { readonly kind: 'nodes' }
  /** Checks that accepted = done + dead + skipped + pending + running + delivering; a line for each mismatch. Slow. */
  | { readonly kind: 'audit' }
  /** Copies a store that is a file, as of one instant. `to`: absolute path, where no file is. */
  | { readonly kind: 'back_up'; readonly to: string };
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
  ended: readonly string[];
  list: readonly DispatchSummary[];
  sessions: readonly BusySession[];
  waits: StoredWaits;
  said: readonly SaidTurn[];
  overview: StoreOverview;
  open_work: readonly OpenWork[];
  dead_work: readonly DeadWork[];
  jobs: StoredJobs;
  jobs_version: number;
  job_ticks: readonly JobTick[];
  oldest_due: number | null;
  guard_rows: readonly GuardRow[];
  usage: readonly UsageSum[];
  approvals: readonly WaitingDelivery[];
  figures: readonly FigureSum[];
  nodes: readonly StoredNode[];
  audit: readonly string[];
  back_up: { readonly bytes: number };
}

/** An engine's function for each query. */
export type QueryHandlers = {
  readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>) => QueryResults[K];
};
