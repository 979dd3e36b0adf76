/**
 * Commits a group of changes in one transaction with one sync. A change that cannot be stored fails alone; the others are
 * stored without it.
 *
 * A commit whose sync fails leaves its frames in the write-ahead log, and a crash would restore them. So before such a
 * commit is reported as not stored, the connection is reopened and a small commit overwrites the frames. If that fails
 * too, the commit is reported as in doubt, and nothing else is committed until the overwrite succeeds.
 */
import { messageOf } from '../../../base/message-of.ts';
import type { CommitResult, EncodedChange } from '../encode.ts';
import { setRowsAside } from './damaged-rows.ts';
import type { Connection, Value } from './driver.ts';
import { errorCode, inTransaction } from './driver.ts';
import { createApply } from './handlers.ts';
import { emptyLog } from './open-database.ts';
import type { WriterRows } from './rows.ts';
import { createRows } from './rows.ts';
import { markClosed } from './store-note.ts';

/** Checkpoints of a commit, for tests. */
export type CommitPoint = 'begun' | 'applied' | 'committed';

/** How long the overwrite of a failed commit is retried before it is reported as in doubt, and the pause, in ms. */
const OVERWRITE_MS = 2000;
const RETRY_MS = 50;
/** Bytes that a probe writes: about the size of an event. */
const PROBE_BYTES = 64 * 1024;
/** Errors before the last frame of a commit was written: there is nothing to overwrite. */
const INCOMPLETE = /^SQLITE_(?:FULL|BUSY|IOERR_WRITE)/;

/** A failed commit has not been overwritten yet: a crash now would restore it. */
export class CommitInDoubt extends Error {}

interface Opened {
  readonly db: Connection;
  readonly rows: WriterRows;
  /** @throws when the medium fails */
  readonly apply: (change: EncodedChange) => CommitResult;
}

export class Transactions {
  private readonly connect: () => Connection;
  private readonly reached: (point: CommitPoint) => void;
  private opened: Opened | null = null;
  /** Damaged rows that have been set aside, a line each; whoever reports them empties it. */
  readonly aside: string[] = [];
  /** Why a failed commit may still be in the log, or why the connection must be replaced. */
  private doubt: string | null = null;

  constructor(connect: () => Connection, reached: (point: CommitPoint) => void) {
    this.connect = connect;
    this.reached = reached;
  }

  get db(): Connection {
    return this.open().db;
  }

  /** Uses this connection from now on. */
  use(db: Connection): void {
    this.opened = withConnection(db);
  }

  /**
   * Commits the changes and returns the results in the same order.
   * @throws CommitInDoubt; other errors when the medium fails, and then nothing was stored
   */
  commit(changes: readonly EncodedChange[]): readonly CommitResult[] {
    if (this.doubt !== null) this.overwrite();
    const failed = new Map<number, CommitResult>();
    for (;;) {
      const results = this.transact(changes, failed);
      if (results !== null) return results;
    }
  }

  /** Writes and syncs a row, and deletes it again. @throws when the medium fails */
  probe(): void {
    if (this.doubt !== null) this.overwrite();
    this.commitAlone("INSERT OR REPLACE INTO meta VALUES ('probe', hex(randomblob(?)))", PROBE_BYTES / 2);
    this.commitAlone("DELETE FROM meta WHERE key = 'probe'");
  }

  close(): void {
    if (this.opened === null) return;
    try {
      markClosed(this.opened.db);
    } finally {
      closeFile(this.opened.db);
      this.opened = null;
    }
  }

  /** Returns null when one more change has failed: try again without it. @param failed the changes to leave out */
  private transact(
    changes: readonly EncodedChange[],
    failed: Map<number, CommitResult>,
  ): readonly CommitResult[] | null {
    const opened = this.open();
    const results: CommitResult[] = [];
    opened.db.exec('BEGIN IMMEDIATE');
    try {
      this.reached('begun');
      for (const [index, change] of changes.entries()) {
        const result = failed.get(index) ?? opened.apply(change);
        results.push(result);
        if (result.kind === 'ok' || failed.has(index)) continue;
        this.rollBack(opened);
        // It may have met a row that was damaged while the file is open.
        if (!this.setAside(opened)) failed.set(index, result);
        return null;
      }
      opened.rows.memory.counts.flush();
      this.reached('applied');
    } catch (error) {
      this.rollBack(opened);
      throw error;
    }
    this.end(opened);
    this.reached('committed');
    return results;
  }

  /** Returns whether there were damaged rows. */
  private setAside({ db, rows }: Opened): boolean {
    const found = setRowsAside(db, Date.now());
    this.aside.push(...found);
    if (found.length > 0) rows.memory.reload();
    return found.length > 0;
  }

  private commitAlone(sql: string, ...values: readonly Value[]): void {
    const opened = this.open();
    opened.db.exec('BEGIN IMMEDIATE');
    try {
      opened.db.change(sql)(...values);
    } catch (error) {
      this.rollBack(opened);
      throw error;
    }
    this.end(opened);
  }

  private end(opened: Opened): void {
    try {
      opened.db.exec('COMMIT');
    } catch (error) {
      this.rollBack(opened);
      if (!INCOMPLETE.test(errorCode(error))) {
        this.doubt = messageOf(error);
        this.overwriteWithin(OVERWRITE_MS);
        if (this.doubt !== null) throw new CommitInDoubt(this.doubt);
      }
      throw error;
    }
  }

  /** Rolls back. If that fails, the connection is replaced before the next commit. */
  private rollBack({ db, rows }: Opened): void {
    try {
      if (db.inTransaction) db.exec('ROLLBACK');
      rows.memory.reload();
    } catch (error) {
      this.doubt = messageOf(error);
    }
  }

  private overwriteWithin(ms: number): void {
    for (const until = performance.now() + ms; performance.now() < until; ) {
      try {
        this.overwrite();
        return;
      } catch {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }

  /** @throws as long as the medium fails */
  private overwrite(): void {
    // Open the new connection first: closing the last one would checkpoint the log.
    const next = withConnection(this.connect());
    this.opened?.db.close();
    this.opened = next;
    inTransaction(next.db, () =>
      next.db.exec("INSERT OR REPLACE INTO meta VALUES ('overwritten', hex(randomblob(8)))"),
    );
    this.doubt = null;
    // Restart the log unless a reader prevents it, so that the remaining frames of the failed commit do not look like damage.
    emptyLog(next.db);
  }

  private open(): Opened {
    this.opened ??= withConnection(this.connect());
    return this.opened;
  }
}

function withConnection(db: Connection): Opened {
  const rows = createRows(db);
  return { db, rows, apply: createApply(rows) };
}

function closeFile(db: Connection): void {
  try {
    emptyLog(db);
  } finally {
    db.close();
  }
}
