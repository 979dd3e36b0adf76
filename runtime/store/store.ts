/**
 * The store: everything that outlives the process (dispatches with their states, delivery ids, coalesce groups, jobs).
 * The rest of the runtime uses only this interface. An engine (sqlite/, postgres/) implements it; SQL stays in its folder, but
 * for what both write alike, which stands beside the rows that it reads (listed-rows.ts, waits.ts, figures.ts).
 *
 * Changes and queries are plain data (mutations.ts, queries.ts), so that they can cross a thread, the control socket or a
 * network. Every change is atomic, and `write` resolves once its change is committed. A rejected `write` has stored
 * nothing, now or later, unless it rejects with StoreInDoubt.
 */

import type { StoreProblem } from '../../schemas/built/operations/types.ts';
import type { Mutation, MutationResults } from './mutations.ts';
import type { Query, QueryResults } from './queries.ts';
import type { RequestRows } from './request-rows.ts';
import type { Sessions } from './sessions.ts';
import type { SharedDocuments } from './shared.ts';

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
