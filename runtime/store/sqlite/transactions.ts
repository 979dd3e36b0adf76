/**
 * A group of changes as one transaction: all of them share its sync. A change that cannot be stored fails alone, and the
 * others are stored without it.
 *
 * A commit that fails while it is synced leaves its frames in the write-ahead log, where a crash would bring them back.
 * So before it is reported that nothing was stored, the connection is reopened and a small commit is written over them.
 * Where that fails too, the commit is reported as in doubt, and nothing else is committed until it succeeds.
 */
import { messageOf } from '../../../base/message-of.ts';
import type { CommitResult, EncodedChange } from '../encode.ts';
import type { Connection, Value } from './driver.ts';
import { errorCode } from './driver.ts';
import { createApply } from './handlers.ts';
import { emptyLog } from './open-database.ts';
import type { Rows } from './rows.ts';
import { createRows } from './rows.ts';
import { inTransaction } from './transaction.ts';

/** Moments of a commit. */
export type CommitPoint = 'begun' | 'applied' | 'committed';

/** For how long a failed commit is tried to be overwritten before it is reported, in ms, and between two tries. */
const OVERWRITE_MS = 2000;
const RETRY_MS = 50;
/** What a probe writes, in bytes: about as much as an event. */
const PROBE_BYTES = 64 * 1024;
/** The commit was cut off before its last frame: there is nothing to overwrite. */
const INCOMPLETE = /^SQLITE_(?:FULL|BUSY|IOERR_WRITE)/;

/** A failed commit could not be overwritten yet: a crash now would bring it back. */
export class CommitInDoubt extends Error {}

interface Opened {
  readonly db: Connection;
  readonly rows: Rows;
  /** @throws when the medium fails */
  readonly apply: (change: EncodedChange, again: boolean) => CommitResult;
}

export class Transactions {
  private readonly connect: () => Connection;
  private readonly reached: (point: CommitPoint) => void;
  private opened: Opened | null = null;
  /** Why a failed commit may still be in the log, or the connection be in no good state. */
  private doubt: string | null = null;

  constructor(connect: () => Connection, reached: (point: CommitPoint) => void) {
    this.connect = connect;
    this.reached = reached;
  }

  get db(): Connection {
    return this.open().db;
  }

  /** Continues with this connection. */
  use(db: Connection): void {
    this.opened = withConnection(db);
  }

  /**
   * Results in the order of the changes.
   * @param again they may have been committed before: what was is not stored twice
   * @throws CommitInDoubt; other errors when the medium fails: nothing was stored then
   */
  commit(changes: readonly EncodedChange[], again: boolean): readonly CommitResult[] {
    if (this.doubt !== null) this.overwrite();
    const failed = new Map<number, CommitResult>();
    for (;;) {
      const results = this.transact(changes, again, failed);
      if (results !== null) return results;
    }
  }

  /** Writes and syncs something, and removes it again. @throws when the medium fails */
  probe(): void {
    if (this.doubt !== null) this.overwrite();
    this.commitAlone("INSERT OR REPLACE INTO meta VALUES ('probe', hex(randomblob(?)))", PROBE_BYTES / 2);
    this.commitAlone("DELETE FROM meta WHERE key = 'probe'");
  }

  close(): void {
    if (this.opened === null) return;
    try {
      emptyLog(this.opened.db);
    } finally {
      this.opened.db.close();
      this.opened = null;
    }
  }

  /** @param failed changes to leave out. Null: one more has failed, and the others are to be tried without it */
  private transact(
    changes: readonly EncodedChange[],
    again: boolean,
    failed: Map<number, CommitResult>,
  ): readonly CommitResult[] | null {
    const opened = this.open();
    const results: CommitResult[] = [];
    opened.db.exec('BEGIN IMMEDIATE');
    try {
      this.reached('begun');
      for (const [index, change] of changes.entries()) {
        const result = failed.get(index) ?? opened.apply(change, again);
        results.push(result);
        if (result.kind === 'ok' || failed.has(index)) continue;
        failed.set(index, result);
        this.rollBack(opened);
        return null;
      }
      opened.rows.counts.flush();
      this.reached('applied');
    } catch (error) {
      this.rollBack(opened);
      throw error;
    }
    this.end(opened);
    this.reached('committed');
    return results;
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

  /** A connection that cannot be rolled back is replaced before the next commit. */
  private rollBack({ db, rows }: Opened): void {
    try {
      if (db.inTransaction) db.exec('ROLLBACK');
      rows.reload();
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
    // Opened before the other one is closed: the last connection that closes would fold the log into the file.
    const next = withConnection(this.connect());
    this.opened?.db.close();
    this.opened = next;
    inTransaction(next.db, () =>
      next.db.exec("INSERT OR REPLACE INTO meta VALUES ('overwritten', hex(randomblob(8)))"),
    );
    this.doubt = null;
    // Begins the log anew where no reader is in the way: what is left of the failed commit behind is no sign of damage.
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
