/**
 * The store interface that both engines implement: everything that outlives the process, with all changes as plain
 * data.
 */
import type {
  Accept,
  ChangeDelivery,
  CommandResults,
  OpenDelivery,
  Resend,
  StoreProblem,
} from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { AddFigures } from './figures.ts';
import type { Query, QueryResults } from './queries.ts';
import type {
  ClaimKey,
  Holder,
  JobMutation,
  JobMutationResults,
  PauseRoute,
  PutGuard,
  Ref,
  StoredClaim,
} from './records.ts';
import type { OverLimit, RunLimit } from './run-limits.ts';
import type { SharedState, SharedStore } from './shared.ts';
import type { DispatchState, FinalState, GroupLimits, ProgramEnd, Step } from './states.ts';
import type { Together } from './together.ts';
import type { RunUsage } from './usage.ts';

/*
 * The store holds everything that outlives the process: dispatches with their states, delivery ids, coalesce groups,
 * jobs. The rest of the runtime uses only this interface. Each engine (sqlite/, postgres/) keeps its SQL in its folder.
 * SQL that both share is beside the rows that it reads (listed-rows.ts, waits.ts, queries.ts).
 *
 * Changes and queries are plain data, so that they can cross a thread, the control socket or a network. Every change is
 * atomic, and `write` resolves once its change is committed. A rejected `write` has stored nothing and never will,
 * unless it rejects with StoreInDoubt.
 */

export type { StoreProblem } from '../../schemas/built/operations/types.ts';

/** The medium cannot be written (full, read-only, missing, failing), or the backlog is full. Nothing was stored. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The medium failed during the commit and keeps failing. Whether the change is stored is known once it works again. */
export class StoreInDoubt extends StoreUnavailable {}

/**
 * `createService` cannot use the store: another process has it open, or a newer version wrote it. The message says what to do.
 *
 * @example
 * ```ts
 * import type { Service, ServiceOptions } from 'hookwright/runtime';
 * import { createService, StoreRefused } from 'hookwright/runtime';
 *
 * const start = (options: ServiceOptions): Promise<Service> =>
 *   createService(options).catch((error: unknown) => {
 *     if (error instanceof StoreRefused) console.error(error.message);
 *     throw error;
 *   });
 * ```
 */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

export interface WrittenAs {
  /** The changes that the same commit stores, if it stores this one. */
  readonly together?: Together;
  /** How long new work waits behind a slow commit before it is rejected, in ms. Default: 2500. */
  readonly wait_ms?: number;
}

/** The store of a service. Changes and queries are plain data; times in them are Unix ms. */
export interface Store {
  /**
   * Applies one change. Changes of this process take effect in the order in which they were written; those that arrive
   * during a commit share the next one. Rejects with StoreUnavailable when the change cannot be stored now, with
   * StoreInDoubt when it is unknown whether it was stored.
   */
  write<M extends Mutation>(mutation: M, as?: WrittenAs): Promise<MutationResults[M['kind']]>;
  /**
   * Runs a query, which sees everything committed before the call. Rejects with StoreDamaged when the requested row is
   * damaged.
   */
  read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]>;
  /** Null while writes succeed. */
  problem(): StoreProblem | null;
  /** State that gateways share besides the rows; null for a store of one process, and for commands. */
  readonly shared: SharedStore | null;
  /** Shared state that is not work; null: it is in files of the home. */
  readonly state: SharedState | null;
  /** Waits for pending writes, and closes. */
  close(): Promise<void>;
}

/** The same store, with some functions replaced. */
export const wrapStore = (store: Store, instead: Partial<Pick<Store, 'read' | 'write'>>): Store => ({
  read: (query) => store.read(query),
  write: (mutation, as) => store.write(mutation, as),
  problem: () => store.problem(),
  shared: store.shared,
  state: store.state,
  close: () => store.close(),
  ...instead,
});

/*
 * All changes to a store, as plain data: the same for each engine, and able to cross a thread or a socket. Mutations
 * take effect in the order in which they are written, and each is atomic.
 */

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
  | ChangeDelivery
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

/** Of commands: CommandResults in schemas/store.yaml. */
export interface MutationResults extends CommandResults, JobMutationResults {
  join_group:
    | {
        readonly kind: 'stored';
        readonly ref: Ref;
        readonly superseded: number;
        readonly due_at: number;
        readonly over?: OverLimit;
        /** Runs of its session that the event has ended. */
        readonly replaced?: readonly Ref[];
      }
    | { readonly kind: 'duplicate' }
    | OverLimit;
  flush_groups: null;
  take_work: TakenWork;
  /**
   * False: the dispatch is unknown, held by another process, or has ended. `superseded`: it is skipped and not
   * `pending`, because a newer event of its session replaces it.
   */
  advance: boolean | 'superseded';
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
  recover: Recovered;
  /** `next`: where to continue; null at the end. */
  expire_claims: { readonly removed: number; readonly next: string | null };
  /** `next`: where to continue; null at the end. */
  cleanup: { readonly removed: number; readonly next: Ref | null };
  /** `bytes`: the size of the store afterwards. */
  trim: { readonly removed: number; readonly bytes: number };
  /** `gone`: the dispatch is unknown, held by another process, or has ended. */
  begin_run: OverLimit | { readonly kind: 'begun' | 'gone' | 'job_already_running' | 'job_paused' };
  add_figures: null;
}

export type {
  Accept,
  Continued,
  InitialWork,
  OpenDelivery,
  Resend,
  RoutePaused,
} from '../../schemas/built/operations/types.ts';

/** Stores a dispatch in its coalesce group, due at the group's end. The dispatch that it replaces is skipped. */
export interface JoinGroup {
  readonly kind: 'join_group';
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  readonly key: string;
  readonly limits: GroupLimits;
  /** If the event opens a group, the run counts against these limits. */
  readonly run_limits?: readonly RunLimit[];
  readonly now: number;
}

/** Makes the dispatches of all groups due, so that a stop loses nothing (§3.2). */
export interface FlushGroups {
  readonly kind: 'flush_groups';
  readonly now: number;
}

/*
 * The changes of stored work. Work is pulled: a dispatch that waits for its run, and each of its deliveries, is a row
 * with the instant at which it is due. `take_work` marks due rows as held by a process and returns them. `advance` and
 * `record_attempt` end or reschedule this work. `recover` releases the work of processes that have ended.
 */

export type { ChangeDelivery } from '../../schemas/built/operations/types.ts';

/**
 * Takes due work: runs become `running`, and runs and attempts are held by `holder`. A paused route has no due runs.
 *
 * Lanes take turns. Runs have a lane for each profile, route and agent; attempts have one for each profile and target.
 * Within a lane, rows are ordered by due time, then by ref. Turns continue from one call to the next: the lane that was
 * served least recently comes first, so that taking one row at a time is as fair as taking ten.
 *
 * At most one run of a session is running or can be taken. The others wait for their turn in the order of acceptance,
 * and the end of each run makes the next one due (unit.ts). Taking a run that waits in a group closes the group.
 *
 * A call whose outcome is in doubt is not repeated, because it would take other rows: `recover` releases those that it
 * may have taken.
 */
export interface TakeWork {
  readonly kind: 'take_work';
  readonly holder: Holder;
  readonly now: number;
  /** Maximum number of runs to take. */
  readonly runs: number;
  /** Maximum number of delivery attempts to take; `holder` gets at most `attempts_per_target` in each lane. */
  readonly attempts: number;
  readonly attempts_per_target: number;
  /** Agents with a limit of concurrent runs, over all processes. */
  readonly agents?: readonly AgentLimit[];
}

export interface AgentLimit {
  readonly profile: string;
  /** Null: the default agent. */
  readonly agent: string | null;
  readonly max_concurrent: number;
}

export interface TakenRun {
  readonly ref: Ref;
  readonly profile: string;
  readonly route: string | null;
  /** Number of failed runs. */
  readonly failed: number;
}

export interface TakenAttempt {
  readonly ref: Ref;
  readonly index: number;
  /** Present if the delivery was never released: a person has refused it, or its time has expired. */
  readonly unsent?: 'refused' | 'expired';
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
 * Begins a run that `holder` has taken and that has a limit of tokens or cost, or fires a job. The run is skipped with
 * the reason `budget` if nothing of its budget is left. If the route has held its event, and its job is now running or
 * paused, it is skipped with `job_already_running` or `job_paused`.
 */
export interface BeginRun {
  readonly kind: 'begin_run';
  readonly ref: Ref;
  readonly holder: Holder;
  readonly limits: readonly RunLimit[];
  /** The job that the event fires. `paused`: as configured. */
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
  /** The usage of the run that ends with this change. */
  readonly usage?: RunUsage;
  /** The limits to which the usage is added. */
  readonly limits?: readonly RunLimit[];
  readonly steps?: readonly Step[];
  /** For `delivering`: the deliveries that have not ended, at least one. The others have ended, as `steps` record. */
  readonly open?: readonly OpenDelivery[];
  /** For `delivering` without `open`: `holder` keeps delivering while the sender waits. */
  readonly held?: true;
  /** The delivery id to claim with this change. */
  readonly claim?: StoredClaim;
  /** The dispatch with the outputs of its run, whose deliveries are also in `open`. */
  readonly dispatch?: Dispatch;
  /** The number of bytes by which the dispatch has grown. */
  readonly grown?: number;
  /** A message to `on_failure`, due immediately, whose targets are its deliveries. */
  readonly message?: Dispatch;
}

/** Records a delivery attempt that `holder` has taken, or releases it without an attempt. */
export interface RecordAttempt {
  readonly kind: 'record_attempt';
  readonly ref: Ref;
  readonly index: number;
  readonly holder: Holder;
  readonly at: number;
  /** Null: the attempt does not count (paced, or cancelled by a stop). */
  readonly step: Step | null;
  /** Unix ms of the next attempt; null: the delivery has ended, with the outcome of the step. */
  readonly due_at: number | null;
  /**
   * The delivery id of a message. If this ends the dispatch, the id is claimed when it is done, and free when it is
   * dead.
   */
  readonly key?: ClaimKey;
}

/** Ends a dispatch with a damaged stored value: it becomes dead, and its deliveries end. */
export interface GiveUp {
  readonly kind: 'give_up';
  readonly ref: Ref;
  readonly at: number;
  readonly reason: string;
}

/**
 * Releases the work of processes that have ended. Runs return to `pending` with an `interrupted` step. Deliveries in
 * progress are due again. A `held` dispatch becomes dead: its sender received no response and may retry. In an engine
 * for one process, every holder but `holder` has ended; in others, a holder has ended when its lease has expired.
 *
 * Work that `holder` holds and that is not in `under_way` was taken by a `take_work` whose result was lost. It is also
 * released, without a step. A `held` dispatch stays with its holder.
 *
 * Also repairs due times after the system clock moved back: a row whose due time was set later than `now` keeps its
 * waiting time, which starts at `now`. So does a pause of a route.
 */
export interface Recover {
  readonly kind: 'recover';
  readonly holder: Holder;
  readonly now: number;
  readonly under_way: UnderWay;
}

/** Work that a process has taken and not ended at the time of the `recover`. */
export interface UnderWay {
  readonly runs: readonly Ref[];
  readonly attempts: readonly { readonly ref: Ref; readonly index: number }[];
}

/** A dispatch that `recover` has made dead. */
export interface GivenUp extends Pick<Dispatch, 'id' | 'profile' | 'route' | 'job'> {
  readonly reason: string;
}

export interface Recovered {
  readonly runs: number;
  readonly attempts: number;
  readonly given_up: readonly GivenUp[];
}
