/** What the crash tests and the process they kill say to each other, one JSON object per line. */
import type { Checkpoint } from '../../runtime/dispatch/dispatcher.ts';
import type { CommitPoint } from '../../runtime/store/sqlite/writer.ts';

export type KillPoint = Checkpoint | `commit.${CommitPoint}`;

/**
 * `agent`: runs and is delivered to two targets. `coalesce`: the same through a group. `immediate`: runs and is delivered
 * within the process. `message`: delivered without a run. `direct`: delivered while the sender waits. `failing`: its run
 * fails for good, of which the target that drops repeats is told.
 */
export interface CrashEvent {
  readonly id: string;
  readonly mode: 'agent' | 'coalesce' | 'immediate' | 'message' | 'direct' | 'failing';
  /** Of the coalesce group. */
  readonly key: string;
}

/** Kills itself when `point` is reached for the `nth` time. */
export interface Kill {
  readonly point: KillPoint;
  readonly nth: number;
}

/** A schema of a PostgreSQL. */
export interface CrashDatabase {
  readonly url: string;
  readonly schema: string;
}

export interface ChildOptions {
  readonly home: string;
  /** Unix ms at which the first process of the home was started. */
  readonly startedAt: number;
  readonly kill: Kill | null;
  /** Null: a file in the home. */
  readonly database: CrashDatabase | null;
  /** Share of delivery attempts that fail in one way or another. */
  readonly faults: number;
  /** Of the faults and of the spread of waits. */
  readonly seed: number;
}

export type ToChild = { readonly kind: 'event'; readonly event: CrashEvent } | { readonly kind: 'finish' };

export type FromChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: string; readonly status: string }
  /** All work has ended and the process is about to. */
  | { readonly kind: 'finished' };

/** One effect on the world outside, appended to `effects.log` the moment it happens. */
export interface Effect {
  readonly kind: 'run' | 'idempotent' | 'plain' | 'immediate' | 'direct';
  readonly id: string;
}

/** Files of the target that drops repeats begin so: one for each key, named `<key>=<delivery id>`. */
export const SENT = 'sent-';
