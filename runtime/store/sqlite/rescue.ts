/**
 * What a module adds to this engine: it recognises a file that is damaged, missing or another one, sets damaged rows aside, and
 * reports it. Without one, the engine creates, migrates and opens its file, and refuses one that SQLite cannot read.
 */
import type { DamageReport } from '../queries.ts';
import type { Connect, Connection } from './driver.ts';
import type { StoreParts } from './sqlite-store.ts';

export interface Rescue {
  /** The entry of the store's threads: it calls `serveStore` with this. */
  readonly thread: URL;
  /** Called by the writer of the file, in its thread. */
  writer(path: string): WriterRescue;
  /** Called beside the store, in the thread of its callers. */
  store(context: RescueContext): StoreRescue;
  /** Known damage, for the query `overview`. */
  damage(db: Connection): DamageReport | null;
}

/** What was found when the file was opened. */
export interface Findings {
  /** A process that used the file was killed, and no server has checked the whole file since. */
  readonly unchecked: boolean;
  /** Loss found in the log since then, by this process or by an earlier command. */
  readonly damage: DamageReport | null;
  /** Rows that were damaged, and have been set aside now; a line each. */
  readonly aside: readonly string[];
  /** Damage that an earlier check found in the file; it may have been repaired since. */
  readonly broken: DamageReport | null;
}

export interface WriterRescue {
  /**
   * Examines the file before SQLite opens it. Returns what is done once it is open, and has its tables.
   * @param now Unix ms @throws StoreRefused when it is missing; other errors when the medium fails
   */
  examine(connect: Connect, now: number): (db: Connection) => Findings;
  /** Called before each commit. @throws when the medium fails */
  committing(db: Connection): void;
  /** Called after each commit. */
  committed(db: Connection): void;
  /** Called when a change has failed. Sets damaged rows aside, and returns a line for each. @throws when the medium fails */
  setAside(db: Connection): readonly string[];
  /** The answer to `note_checked`. */
  noteChecked(db: Connection, broken: DamageReport | null): void;
  /** Called before the file is closed. @throws when the medium fails */
  closing(db: Connection): void;
}

export type RescueContext = Pick<StoreParts, 'path' | 'writer' | 'isServer' | 'log' | 'now'>;

export interface StoreRescue {
  /** The file is open. */
  opened(findings: Findings): void;
  /** A commit has set these rows aside; a line each. */
  setAside(rows: readonly string[]): void;
  /** A query has met a damaged page. */
  malformed(message: string): Promise<void>;
  /** The process exits, and has not closed the store. */
  exit(): void;
  /** The store closes; its writer has not yet. */
  close(): Promise<void>;
}
