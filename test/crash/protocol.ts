/** The messages between the crash tests and the process that they kill, one JSON object per line. */
import type { Checkpoint } from '../../runtime/dispatch/dispatcher.ts';
import type { CommitPoint } from '../../runtime/store/sqlite/writer.ts';

export type KillPoint = Checkpoint | `commit.${CommitPoint}`;

/**
 * `agent`: runs and is delivered to two targets. `coalesce`: the same through a group. `immediate`: runs and is
 * delivered within the process. `message`: delivered without a run. `direct`: delivered while the sender waits.
 * `failing`: its run fails permanently, which is reported to the target that drops repeats.
 */
export interface CrashEvent {
  readonly id: string;
  readonly mode: 'agent' | 'coalesce' | 'immediate' | 'message' | 'direct' | 'failing';
  /** The key of the coalesce group. */
  readonly key: string;
}

/** Kills itself when `point` is reached for the `nth` time. */
export interface Kill {
  readonly point: KillPoint;
  readonly nth: number;
}

/** A schema of a PostgreSQL database. */
export interface CrashDatabase {
  readonly url: string;
  readonly schema: string;
}

export interface ChildOptions {
  readonly home: string;
  /** Unix ms at which the first process of the home started. */
  readonly startedAt: number;
  readonly kill: Kill | null;
  /** Null: a file in the home. */
  readonly database: CrashDatabase | null;
  /** Share of delivery attempts that fail in some way. */
  readonly faults: number;
  /** Seed of the faults and of the spread of waits. */
  readonly seed: number;
}

export type ToChild = { readonly kind: 'event'; readonly event: CrashEvent } | { readonly kind: 'finish' };

export type FromChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: string; readonly status: string }
  /** All work has ended, and the process is about to exit. */
  | { readonly kind: 'finished' };

/** One external effect, appended to `effects.log` the moment it happens. */
export interface Effect {
  readonly kind: 'run' | 'idempotent' | 'plain' | 'immediate' | 'direct';
  readonly id: string;
}

/** Prefix of the files of the target that drops repeats: one for each key, named `<key>=<delivery id>`. */
export const SENT = 'sent-';
