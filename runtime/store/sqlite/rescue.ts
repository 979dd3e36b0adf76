/**
 * What a module adds to this engine: it recognises a file that is damaged, missing or another one, sets damaged rows aside, and
 * reports it. Without one, the engine creates, migrates and opens its file, and refuses one that SQLite cannot read.
 */
import type { Logger } from '../../platform/log.ts';
import type { DamageReport } from '../queries.ts';
import type { Connect, Connection } from './driver.ts';

export interface Rescue {
  /** The entry of the store's threads: it calls `serveStore` with this. */
  readonly thread: URL;
  /** Called by the writer of the file, in its thread. */
  writer(path: string): WriterRescue;
  /** Called by the store, in the thread of its callers. @param noteChecked has the writer note it */
  store(context: RescueContext, noteChecked: NoteChecked): StoreRescue;
  /** Called by a reader, in its thread: known damage, for the query `overview`. */
  damage(db: Connection): DamageReport | null;
  /**
   * Called by a reader, in its thread, for this module: checks the whole file, and returns what is wrong with it, or copies it to
   * the absolute path `to`, and returns the number of bytes. @throws when the copy fails
   */
  readWhole(open: () => Connection, to: string | null): string | number | null;
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
  /** Notes that the whole file has been checked. @param broken null: it is intact */
  noteChecked(db: Connection, broken: DamageReport | null): void;
  /** Called before the file is closed. @throws when the medium fails */
  closing(db: Connection): void;
}

export interface RescueContext {
  readonly path: string;
  /** The store of a server, with threads; else that of a command. */
  readonly isServer: boolean;
  readonly log: Logger;
  /** Unix ms. */
  readonly now: () => number;
}

/** Notes in the file that all of it has been read. @param broken damage that was found */
type NoteChecked = (broken: DamageReport | null) => Promise<unknown>;

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
