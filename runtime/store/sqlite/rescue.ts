/**
 * The interface of the module that recognises a damaged, missing or foreign file, quarantines damaged rows, and reports
 * it. Without the module, the engine creates, migrates and opens its file, and rejects a file that SQLite cannot read.
 */
import type { Logger } from '../../platform/log.ts';
import type { DamageReport } from '../queries.ts';
import type { Connect, Connection } from './driver.ts';

export interface Rescue {
  /** The entry of the store's threads: it calls `serveStore` with this. */
  readonly thread: URL;
  /** Called by the writer of the file, in its thread. */
  writer(path: string): WriterRescue;
  /** Called by the store, in the thread of its callers. @param noteChecked makes the writer note the check */
  store(context: RescueContext, noteChecked: NoteChecked): StoreRescue;
  /** Called by a reader, in its thread: returns known damage, for the query `overview`. */
  damage(db: Connection): DamageReport | null;
  /**
   * Called by a reader, in its thread, for this module. Checks the whole file, and returns the damage; or copies it to
   * the absolute path `to`, and returns the number of bytes. @throws when the copy fails
   */
  readWhole(open: () => Connection, to: string | null): string | number | null;
}

/** The findings when the file was opened. */
export interface Findings {
  /** A process that used the file was killed, and no server has checked the whole file since. */
  readonly unchecked: boolean;
  /** Loss found in the log since then, by this process or by an earlier command. */
  readonly damage: DamageReport | null;
  /** A line for each damaged row that was quarantined now. */
  readonly aside: readonly string[];
  /** Damage that an earlier check found in the file; it may have been repaired since. */
  readonly broken: DamageReport | null;
}

export interface WriterRescue {
  /**
   * Examines the file before SQLite opens it. Returns a function to call once it is open and has its tables.
   * @param now Unix ms @throws StoreRefused when the file is missing; other errors when the medium fails
   */
  examine(connect: Connect, now: number): (db: Connection) => Findings;
  /** Called before each commit. @throws when the medium fails */
  committing(db: Connection): void;
  /** Called after each commit. */
  committed(db: Connection): void;
  /**
   * Called when a change has failed. Quarantines damaged rows, and returns a line for each. @throws when the medium
   * fails
   */
  quarantine(db: Connection): readonly string[];
  /** Notes that the whole file was checked. @param broken null: it is intact */
  noteChecked(db: Connection, broken: DamageReport | null): void;
  /** Called before the file is closed. @throws when the medium fails */
  closing(db: Connection): void;
}

export interface RescueContext {
  readonly path: string;
  /** True for the store of a server, with threads; false for the store of a command. */
  readonly isServer: boolean;
  readonly log: Logger;
  /** Unix ms. */
  readonly now: () => number;
}

/** Notes in the file that all of it was read. @param broken damage that was found */
type NoteChecked = (broken: DamageReport | null) => Promise<unknown>;

export interface StoreRescue {
  /** Called when the file is open. */
  opened(findings: Findings): void;
  /** Called when a commit has quarantined rows, with a line for each. */
  quarantined(rows: readonly string[]): void;
  /** Called when a query has met a damaged page. */
  malformed(message: string): Promise<void>;
  /** Called when the process exits without closing the store. */
  exit(): void;
  /** Called when the store closes, before its writer does. */
  close(): Promise<void>;
}
