/** What gateways share through their store, besides work: rate windows, documents, chat sessions, captured requests. */
import type { SessionSummary, Turn } from '../../schemas/built/operations/types.ts';

export type { SessionSummary, Turn } from '../../schemas/built/operations/types.ts';

/**
 * `work`: another process may have stored work. `jobs`: it may also have changed jobs. `left`: a process has ended, and
 * `recover` can take over its work.
 */
export type SharedChange = 'work' | 'jobs' | 'left';

/** A rate window of a route. Times are monotonic ms. */
export interface SlotWindow {
  /**
   * Returns 0 when one of the `limit` slots is free, as far as this gateway knows; otherwise the seconds (at least 1)
   * until one is.
   */
  wait(limit: number, now: number): number;
  /**
   * Takes a slot and returns 0; if none is free, returns the same as `wait`. A shared window may reject with
   * StoreUnavailable.
   */
  take(limit: number, now: number): number | Promise<number>;
  /** Gives a slot back that a request of this instant took. */
  give(at: number): void;
  /** True if the window holds nothing that is still needed and can be dropped. */
  expired(now: number): boolean;
}

export interface SharedStore {
  /** Hashes of the tables that the other gateways served a few seconds ago. */
  readonly otherTables: () => readonly string[];
  /** Invalid jobs and subscriptions in the store, which are ignored, each with what to do. */
  readonly refused: () => readonly string[];
  /** Adds a listener, called when other processes may have changed something. */
  watch(listener: (change: SharedChange) => void): void;
  /** The rate window of this name. Its slots are counted over all processes. */
  window(name: string): SlotWindow;
}

export interface SharedState {
  readonly sessions: Sessions;
  readonly documents: SharedDocuments;
  /** Captured requests. */
  readonly requests: RequestRows;
}

/** A text that gateways share through their store. */
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

/** Number of characters of a hash that are shown. */
const HASH_CHARS = 12;

/** Null when all gateways serve the same table. @param tables hashes of the tables that the other gateways serve */
export function describeOtherTables(own: string | null, tables: readonly string[]): string | null {
  const others = tables.filter((hash) => hash !== own).map((hash) => hash.slice(0, HASH_CHARS));
  if (others.length === 0) return null;
  return `other gateways of this store serve a different table (hash ${others.join(', ')}) than this one (${own?.slice(0, HASH_CHARS) ?? 'none'})`;
}

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

/**
 * A captured request as a row that gateways share. `n` is the number in the id; `head` is everything but the body, as
 * JSON.
 */
export interface RequestRow {
  readonly n: number;
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** The columns, besides the number, that filters use. */
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
  /** The number of rows to skip. */
  readonly skip: number;
}

/** All reject with StoreUnavailable. */
export interface RequestRows {
  /** Returns the number of rows stored. Rows whose number is already used are not stored. */
  add(rows: readonly NewRequestRow[]): Promise<number>;
  /** Removes rows below `n`, then the oldest ones until the rest has at most `maxBytes`. */
  trim(n: number, maxBytes: number): Promise<void>;
  list(filter: RequestFilter): Promise<readonly Omit<RequestRow, 'body'>[]>;
  /** At most two rows with a number from `from` to `to`, both inclusive. */
  between(from: number, to: number): Promise<readonly RequestRow[]>;
}
