/** All queries of a store, as plain data. */
import type {
  DamageReport,
  DeadWork,
  DeliverySummary,
  FigureSum,
  LastError,
  NodeSummary,
  StoreQuery,
} from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { GuardRow, JobRecord, JobState, JobTick, Ref } from './records.ts';
import type { DispatchState, ProgramEnd, ShownState, Step } from './states.ts';
import type { UsageSum } from './usage.ts';
import type { BlockedBy, StoredWaits, Wait } from './waits.ts';

export type {
  DamageReport,
  DeadWork,
  LastError,
  ListFilter,
} from '../../schemas/built/operations/types.ts';

/** A dispatch in a list. */
export interface DispatchSummary extends DeliverySummary, Wait {
  readonly ref: Ref;
}

/** The highest counted position in a session. */
export const MOST_TURNS = 1000;

/** A session in which runs take turns and at least one run waits or is running. */
export interface BusySession {
  readonly session: string;
  /** The run that has the turn. */
  readonly run: DispatchSummary;
  /** Number of runs that wait for their turn. */
  readonly waiting: number;
}

/** A turn of a session: the prompt of a run and its answer. */
export interface SaidTurn {
  /** The id of the dispatch. */
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

/**
 * Counts of one route since the store was created, by stored state. `removed`: ended dispatches that retention has
 * removed.
 */
export interface Tally extends Readonly<Record<DispatchState, number>> {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly accepted: number;
  readonly removed: number;
}

export type ShownTally = Tally & Readonly<Record<ShownState, number>>;

/** Waiting work, over all processes. */
interface Backlog {
  readonly runs: number;
  /** Deliveries that are due. */
  readonly deliveries: number;
  /** Deliveries that wait for their next attempt. */
  readonly deliveries_delayed: number;
  readonly groups: number;
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

/** Number of dispatches that have not ended, by the target that they need: pending or running ones, and deliveries. */
export interface OpenWork {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly job: string | null;
  /** Null: runs without deliveries. */
  readonly target: string | null;
  readonly count: number;
}

/** A delivery that is blocked. */
export interface BlockedRow {
  readonly ref: Ref;
  readonly index: number;
  /** The id of the dispatch. */
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  /** Unix ms. */
  readonly since: number;
  /** Unix ms; from then on it can no longer be released. */
  readonly expires_at: number;
  readonly blocked_by: BlockedBy;
  /** Unix ms at which a message has told people of it; null: not yet. */
  readonly told_at: number | null;
}

/** A gateway that shares the store. Lists contain each running gateway, and the latest start of each that has ended. */
export interface StoredNode extends Omit<NodeSummary, 'lease_expires_at' | 'state'> {
  /** Number of this start. */
  readonly node: number;
  readonly lease_expires_at: number;
  readonly state: Exclude<NodeSummary['state'], 'draining'>;
  /** Unix ms at which this was read, by the store's clock. */
  readonly read_at: number;
}

/** All queries; schemas/store.yaml describes each. */
export type Query = StoreQuery;
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
  blocked: readonly BlockedRow[];
  figures: readonly FigureSum[];
  nodes: readonly StoredNode[];
  audit: readonly string[];
}

/** An engine's function for each query. */
export type QueryHandlers = {
  readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>) => QueryResults[K];
};
