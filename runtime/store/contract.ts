/**
 * The store as the rest of the runtime sees it: everything that outlives the process. Identifiers, all changes as plain
 * data, and the interface that both engines implement.
 */
import type {
  Accept,
  AnswerApproval,
  OpenDelivery,
  Resend,
  SessionSummary,
  StoreProblem,
  Turn,
} from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan, OverBudget } from './budget.ts';
import type { AddFigures, Query, QueryResults } from './queries.ts';
import type {
  ClaimKey,
  Holder,
  JobMutation,
  JobMutationResults,
  PauseRoute,
  PutGuard,
  Ref,
  RunLimit,
  StoredClaim,
} from './records.ts';
import type { DispatchState, FinalState, GroupLimits, ProgramEnd, Step, Waiting } from './states.ts';
import type { RunUsage } from './usage.ts';

/*
 * The store: everything that outlives the process (dispatches with their states, delivery ids, coalesce groups, jobs).
 * The rest of the runtime uses only this interface. An engine (sqlite/, postgres/) implements it; SQL stays in its folder, but
 * for what both write alike, which stands beside the rows that it reads (listed-rows.ts, waits.ts, figures.ts).
 *
 * Changes and queries are plain data (mutations.ts, queries.ts), so that they can cross a thread, the control socket or a
 * network. Every change is atomic, and `write` resolves once its change is committed. A rejected `write` has stored
 * nothing, now or later, unless it rejects with StoreInDoubt.
 */

export type { StoreProblem } from '../../schemas/built/operations/types.ts';

/** The medium cannot be written (full, read-only, gone, failing), or the backlog is full. Nothing was stored. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The medium failed during the commit and keeps failing; whether the change is stored is known once it works again. */
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

/**
 * `work`: another process may have stored work. `jobs`: it may also have changed jobs. `left`: a process has ended, and a
 * `recover` takes over its work.
 */
export type SharedChange = 'work' | 'jobs' | 'left';

/** A rate window of a route. Times are monotonic ms. */
export interface SlotWindow {
  /** 0 when one of the `limit` slots is free, as far as this gateway knows; otherwise the seconds (at least 1) until one is. */
  wait(limit: number, now: number): number;
  /** Takes a slot and returns 0; returns the same as `wait` when none is free. A shared one may reject with StoreUnavailable. */
  take(limit: number, now: number): number | Promise<number>;
  /** Whether it can be dropped: it holds nothing that is still needed. */
  expired(now: number): boolean;
}

export interface SharedStore {
  /** Hashes of the tables that the other gateways serve, as of a few seconds ago. */
  readonly otherTables: () => readonly string[];
  /** Jobs and subscriptions of the store that are invalid and not used, with what to do. */
  readonly refused: () => readonly string[];
  /** Adds a listener, called when other processes may have changed something. */
  watch(listener: (change: SharedChange) => void): void;
  /** The rate window of this name, whose slots are counted over all processes. */
  window(name: string): SlotWindow;
}

export interface SharedState {
  readonly sessions: Sessions;
  readonly documents: SharedDocuments;
  /** Kept requests. */
  readonly requests: RequestRows;
}

/**
 * The store of a service: what outlives the process. Changes and queries are plain data; times in them are Unix ms.
 */
export interface Store {
  /**
   * Applies one change. Changes of this process take effect in the order in which they were written; those that arrive
   * during a commit share the next one. Rejects with StoreUnavailable when the change cannot be stored now, with
   * StoreInDoubt when it is unknown whether it was stored.
   */
  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]>;
  /** Runs a query, which sees everything that was committed before the call. Rejects with StoreDamaged when the row asked for is not what was written. */
  read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]>;
  /** Null while writes succeed. */
  problem(): StoreProblem | null;
  /** What gateways share besides the rows; null for a store of one process, and for commands. */
  readonly shared: SharedStore | null;
  /** Shared state that is not work; null: it is kept in files of the home. */
  readonly state: SharedState | null;
  /** Waits for pending writes, and closes. */
  close(): Promise<void>;
}

/** The same store, with other functions for some of its own. */
export const wrapStore = (store: Store, instead: Partial<Pick<Store, 'read' | 'write'>>): Store => ({
  read: (query) => store.read(query),
  write: (mutation) => store.write(mutation),
  problem: () => store.problem(),
  shared: store.shared,
  state: store.state,
  close: () => store.close(),
  ...instead,
});

/*
 * All changes that a store can make, as plain data: the same for each engine, and able to cross a thread or a socket.
 * Mutations take effect in the order in which they are written, and each is atomic.
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
  begin_run: OverBudget | { readonly kind: 'begun' | 'gone' | 'job_already_running' | 'job_paused' };
  /** False: the row is not as expected, and nothing was stored. */
  put_guard: boolean;
  pause_route: null;
  add_figures: null;
}

export type {
  Accept,
  InitialWork,
  OpenDelivery,
  Resend,
} from '../../schemas/built/operations/types.ts';

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

/** The run would be one too many: nothing but its count was stored. */
export interface OverLimit {
  readonly kind: 'over_limit';
  readonly limit: RunLimit;
  /** Unix ms at which the pause ends; null: there is none. */
  readonly until: number | null;
}

/** The route is paused and cannot hold the event, because its sender waits: nothing was stored. */
export interface RoutePaused {
  readonly kind: 'route_paused';
  /** Unix ms at which the pause ends; null: nobody knows. */
  readonly until: number | null;
}

/*
 * The changes of stored work. Work is pulled: a dispatch that waits for its run, and each of its deliveries, is a row with the
 * instant at which it is due. `take_work` marks due rows as held by a process and returns them; `advance` and
 * `record_attempt` end or reschedule taken work; `recover` releases the work of processes that have ended.
 */

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

/** What gateways share through their store besides work: texts, and which table each serves. */
export interface SharedDocument {
  /** 0 when there is none yet. */
  readonly version: number;
  readonly text: string;
}

/** All reject with StoreUnavailable. */
export interface SharedDocuments {
  /** 0 when there is none yet. */
  version(name: string): Promise<number>;
  read(name: string): Promise<SharedDocument>;
  /** Replaces version `from`; returns false, and changes nothing, when that is no longer the current version. */
  replace(name: string, from: number, text: string): Promise<boolean>;
}

/** Characters of a hash that are shown. */
const HASH_CHARS = 12;

/** Null when all gateways serve the same table. @param tables hashes of the tables that the other gateways serve */
export function describeOtherTables(own: string | null, tables: readonly string[]): string | null {
  const others = tables.filter((hash) => hash !== own).map((hash) => hash.slice(0, HASH_CHARS));
  if (others.length === 0) return null;
  return `other gateways serve another table: ${others.join(', ')}; this one: ${own?.slice(0, HASH_CHARS) ?? 'none'}`;
}

export type { SessionSummary, Turn } from '../../schemas/built/operations/types.ts';

export interface Chat {
  readonly profile: string;
  /** Canonical target name. */
  readonly target: string;
  readonly chatId: string;
}

export interface Sessions {
  /** Creates the chat's session unless it exists. `path`: as in a summary. */
  open(chat: Chat): Promise<{ readonly path: string | null; readonly created: boolean }>;
  /** Returns false when the chat has no session. */
  append(chat: Chat, turn: Turn): Promise<boolean>;
  /** Sorted by target, then chat. */
  list(profile: string): Promise<readonly SessionSummary[]>;
  /** The turns in order; null when the chat has no session. */
  read(chat: Chat): Promise<readonly Turn[] | null>;
}

/** Kept requests as rows that gateways share: `n` is the number in the id, `head` is everything but the body, as JSON. */
export interface RequestRow {
  readonly n: number;
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** The columns, besides the number, by which rows are found. */
interface RequestColumns {
  readonly profile: string;
  readonly route: string;
  readonly outcome: string;
  readonly reason: string | null;
}

export type NewRequestRow = RequestRow & RequestColumns;

/** All given conditions must hold; the bounds of `n` are exclusive. */
export interface RequestFilter extends Partial<RequestColumns> {
  readonly above?: number;
  readonly below?: number;
  /** Text in head or body; ignores the case of ASCII letters. */
  readonly grep?: string;
  /** True: oldest first; false: newest first. */
  readonly isAscending: boolean;
  readonly limit: number;
  /** Passes over so many. */
  readonly skip: number;
}

/** All reject with StoreUnavailable. */
export interface RequestRows {
  /** Returns the number of rows stored; rows whose number is taken are not. */
  add(rows: readonly NewRequestRow[]): Promise<number>;
  /** Removes rows below `n`, then the oldest ones until the rest has at most `maxBytes`. */
  trim(n: number, maxBytes: number): Promise<void>;
  list(filter: RequestFilter): Promise<readonly Omit<RequestRow, 'body'>[]>;
  /** At most two rows with a number from `from` to `to`, both inclusive. */
  between(from: number, to: number): Promise<readonly RequestRow[]>;
}
