/**
 * Syncs the write-ahead log to the disk beside the writer: while one commit is on its way to the disk the next one is
 * applied, and all that wait share the next sync. The same promise as SQLite's `synchronous = FULL`, which syncs the log
 * with each commit and waits for it; the order of log, file and their reuse stays SQLite's own (`synchronous = NORMAL`,
 * https://www.sqlite.org/wal.html).
 */
import { closeSync, fdatasync, openSync } from 'node:fs';

/** Brings what was written to the log of the database at `path` to the disk. */
export type SyncLog = (done: (error: Error | null) => void) => void;

/** Told once the commit is on the disk, or why nobody can say that it is. */
type Waiter = (error: Error | null) => void;

/**
 * Opens the log, which is there as long as a connection has the database open. Only the log: SQLite keeps its locks on
 * the database file, and closing that would drop them.
 */
export function openLogSync(path: string): { readonly sync: SyncLog; close(): void } {
  const log = openSync(`${path}-wal`, 'r+');
  return { sync: (done) => fdatasync(log, done), close: () => closeSync(log) };
}

export class LogSync {
  private waiting: Waiter[] = [];
  private syncing = false;
  private idle: (() => void)[] = [];
  private readonly sync: SyncLog;

  constructor(sync: SyncLog) {
    this.sync = sync;
  }

  /** `told` hears of the first sync that begins from now on. */
  after(told: Waiter): void {
    this.waiting.push(told);
    if (!this.syncing) this.start();
  }

  /** Calls back when nothing is on its way any more. */
  whenIdle(then: () => void): void {
    if (this.syncing) this.idle.push(then);
    else then();
  }

  private start(): void {
    const waiting = this.waiting;
    this.waiting = [];
    this.syncing = true;
    this.sync((error) => {
      this.syncing = false;
      for (const told of waiting) told(error);
      if (this.waiting.length > 0) this.start();
      else for (const then of this.idle.splice(0)) then();
    });
  }
}
