/**
 * What outlives the process: dispatches with their states, delivery ids, coalesce groups, jobs. The one thing about
 * persistence that the rest of the runtime knows. An engine (sqlite/) implements it; SQL stays in the engine's folder.
 *
 * Changes and questions are plain data (mutations.ts, queries.ts), so that they can cross a thread, the control socket
 * or a network. Every change is atomic, and acknowledged means stored: `write` resolves once its change is committed. A
 * rejected `write` stored nothing, now or later, unless it says that this is in doubt.
 */

import type { Mutation, MutationResults } from './mutations.ts';
import type { Query, QueryResults } from './queries.ts';
import type { TakeSlots } from './rate-slots.ts';
import type { RequestRows } from './request-rows.ts';
import type { Sessions } from './sessions.ts';
import type { SharedDocuments } from './shared-documents.ts';
import type { SharedTables } from './shared-tables.ts';

/** The medium cannot take writes now (full, read-only, gone, failing), or the backlog is full. Nothing was stored. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The medium failed within the commit, and keeps failing: whether the change is stored is known once it works again. */
export class StoreInDoubt extends StoreUnavailable {}

/** The store cannot be used at all; the message says what to do. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

/** Why the store takes no writes, for `gateway status` and `/readyz`. */
export interface StoreProblem {
  /** `replaced`: the file is not the one that was opened. */
  readonly kind: 'unavailable' | 'replaced' | 'full';
  readonly message: string;
  /** Unix ms. */
  readonly since: number;
}

/**
 * `work`: another process may have stored some. `jobs`: it may have changed jobs, too. `left`: one is gone, and a `recover`
 * takes over what it held.
 */
export type SharedChange = 'work' | 'jobs' | 'left';

export interface SharedStore {
  /** Hashes of the tables that the other gateways serve, as of a few seconds ago. */
  readonly otherTables: () => readonly string[];
  /** Calls each listener when other processes may have changed something. */
  watch(listener: (change: SharedChange) => void): void;
  /** Takes slots of a rate window, which counts the requests of all processes. */
  readonly takeSlots: TakeSlots;
}

export interface SharedState {
  readonly sessions: Sessions;
  readonly documents: SharedDocuments;
  readonly tables: SharedTables;
  /** Kept requests. */
  readonly requests: RequestRows;
}

export interface Store {
  /**
   * Applies one change. Changes take effect in the order in which they were written by this process; those that arrive
   * while a commit is under way share the next one.
   * @throws StoreUnavailable (as a rejection) when it cannot be stored now, StoreInDoubt when it is unknown whether it was.
   */
  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]>;
  /** Sees everything that was committed when it was called. */
  read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]>;
  /** Null while writes succeed. */
  problem(): StoreProblem | null;
  /** What the gateways that share the store have in common; null: this process is the only one, or no gateway. */
  readonly shared: SharedStore | null;
  /** What outlives a request and is no work, where processes share it; null: files of the home keep it. */
  readonly state: SharedState | null;
  /** Waits for what is written, and closes. */
  close(): Promise<void>;
}
