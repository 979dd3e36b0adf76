/**
 * All changes that a store can make, as plain data: the same for each engine, and able to cross a thread or a socket.
 * Mutations take effect in the order in which they are written, and each is atomic.
 */
import type { OverBudget } from './budget.ts';
import type { Accept, Continued, FlushGroups, JoinGroup, OverLimit, Resend, RoutePaused } from './event-mutations.ts';
import type { AddFigures } from './figures.ts';
import type { PutGuard } from './guard-mutations.ts';
import type { Ref } from './identity.ts';
import type { JobMutation, JobMutationResults } from './job-mutations.ts';
import type { PauseRoute } from './pauses.ts';
import type { DispatchState } from './states.ts';
import type {
  Advance,
  AnswerApproval,
  BeginRun,
  GiveUp,
  RecordAttempt,
  Recover,
  Recovered,
  TakenWork,
  TakeWork,
  TellApproval,
} from './work-mutations.ts';

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
