/** The writer of the store, which has its own thread in a server: prepares the file and commits groups of changes. */
import { messageOf } from '../../../base/errors.ts';
import { describeDiskError } from '../../platform/files.ts';
import { StoreRefused } from '../contract.ts';
import type { CommitResult, EncodedChange } from '../group-commit.ts';
import { togetherWith } from '../group-commit.ts';
import type { DamageReport } from '../queries.ts';
import type { StorePart, UnitParts } from '../store-part.ts';
import { joinParts } from '../store-part.ts';
import type { Connection, Value } from './driver.ts';
import { connect as connectDriver, errorCode, inTransaction, isMalformed } from './driver.ts';
import { createApply } from './handlers.ts';
import type { Durability } from './open-database.ts';
import {
  createNumbering,
  emptyLog,
  isTemporary,
  openWriting,
  prepareDatabase,
  prepareMemory,
} from './open-database.ts';
import type { ReaderOptions } from './read.ts';
import type { Findings, WriterRescue } from './rescue.ts';
import type { WriterRows } from './rows.ts';
import { createRows } from './rows.ts';

const SAVE =
  'keep a copy of it; then restore a backup, or recover what is readable: ' +
  'sqlite3 state.db .recover | sqlite3 recovered.db';

export interface WriterOptions extends ReaderOptions {
  readonly durability: Durability;
  /** What modules bring; default: nothing. */
  readonly parts?: readonly StorePart[] | undefined;
  /** For tests that kill the process within a commit. */
  readonly reached?: (point: CommitPoint) => void;
}

export type WriterRequest =
  | { readonly kind: 'prepare'; readonly now: number }
  | { readonly kind: 'commit'; readonly changes: readonly EncodedChange[] }
  /** `broken`: damage found by a check of the whole file. */
  | { readonly kind: 'note_checked'; readonly broken: DamageReport | null }
  | { readonly kind: 'probe' | 'checkpoint' | 'close' };

/** The result of `commit`, as JSON. `aside`: the damaged rows that it has quarantined. */
export interface Committed {
  readonly results: readonly CommitResult[];
  readonly aside: readonly string[];
}

/** `refused`: this version cannot use the file. `unavailable`: the medium failed, perhaps temporarily. */
export type PrepareResult =
  | { readonly kind: 'prepared'; readonly findings: Findings | null }
  | { readonly kind: 'refused' | 'unavailable'; readonly message: string };

export class Writer {
  private readonly options: WriterOptions;
  private readonly transactions: Transactions;
  private readonly rescue: WriterRescue | null;

  constructor(options: WriterOptions) {
    const { path, durability, shared, connect = connectDriver, rescue = null } = options;
    this.options = options;
    this.rescue = rescue?.writer(path) ?? null;
    const open = (): Connection => shared ?? openWriting(connect, path, durability);
    this.transactions = new Transactions(open, this.rescue, options);
  }

  /** Resolves to the result of `prepare`, or to the results of a commit as JSON. */
  async serve(request: WriterRequest): Promise<PrepareResult | string | null> {
    const { transactions } = this;
    switch (request.kind) {
      case 'prepare':
        return this.prepare(request.now);
      case 'commit':
        // As one text: sending it to another thread costs a fraction of cloning the objects.
        return JSON.stringify({
          results: this.commit(request.changes),
          aside: transactions.aside.splice(0),
        } satisfies Committed);
      case 'note_checked':
        this.rescue?.noteChecked(transactions.db, request.broken);
        return null;
      case 'probe':
        transactions.probe();
        return null;
      case 'checkpoint':
        transactions.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
        return null;
      case 'close':
        transactions.close();
        return null;
    }
  }

  private prepare(now: number): PrepareResult {
    const { connect = connectDriver, path, durability, shared } = this.options;
    try {
      const { db, findings } =
        shared === undefined ? prepareDatabase(connect, path, now, this.rescue) : prepareMemory(shared);
      db.exec(`PRAGMA synchronous = ${durability}`);
      this.transactions.use(db);
      return { kind: 'prepared', findings };
    } catch (error) {
      const message = describeDiskError(error);
      if (error instanceof StoreRefused) return { kind: 'refused', message };
      if (isMalformed(error)) return { kind: 'refused', message: `${damaged(path, message)}\n${SAVE}` };
      return { kind: isTemporary(error) ? 'unavailable' : 'refused', message: `cannot open ${path}: ${message}` };
    }
  }

  private commit(changes: readonly EncodedChange[]): readonly CommitResult[] {
    try {
      this.rescue?.committing(this.transactions.db);
      const results = this.transactions.commit(changes);
      this.rescue?.committed(this.transactions.db);
      return results;
    } catch (error) {
      const message = messageOf(error);
      const kind = error instanceof CommitInDoubt ? 'in_doubt' : 'unavailable';
      return changes.map(() => ({ kind, message }));
    }
  }
}

/** A file without SQLite's header may never have been a database, so it is not called damaged. */
const damaged = (path: string, message: string): string =>
  /not a database/.test(message) ? `cannot open ${path}: ${message}` : `${path} is damaged: ${message}`;

/*
 * Commits a group of changes in one transaction with one sync. A change that cannot be stored fails alone; the others are
 * stored without it.
 *
 * A commit whose sync fails leaves its frames in the write-ahead log, and a crash would restore them. So before such a
 * commit is reported as not stored, the connection is reopened and a small commit overwrites the frames. If that fails
 * too, the commit is reported as in doubt, and nothing else is committed until the overwrite succeeds.
 */

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
class CommitInDoubt extends Error {}

interface Opened {
  readonly db: Connection;
  readonly rows: WriterRows;
  /** @throws when the medium fails */
  readonly apply: (change: EncodedChange) => CommitResult;
  readonly number: () => void;
}

type TransactionOptions = Pick<WriterOptions, 'reached' | 'parts'>;

class Transactions {
  private readonly connect: () => Connection;
  private readonly rescue: WriterRescue | null;
  private readonly options: TransactionOptions;
  private readonly parts: UnitParts;
  private opened: Opened | null = null;
  /** A line for each quarantined row; the reader of this list empties it. */
  readonly aside: string[] = [];
  /** Why a failed commit may still be in the log, or why the connection must be replaced. */
  private doubt: string | null = null;

  constructor(connect: () => Connection, rescue: WriterRescue | null, options: TransactionOptions) {
    this.connect = connect;
    this.rescue = rescue;
    this.options = options;
    this.parts = joinParts(options.parts);
  }

  get db(): Connection {
    return this.open().db;
  }

  /** Uses this connection from now on. */
  use(db: Connection): void {
    this.opened = this.begin(db);
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
      this.rescue?.closing(this.opened.db);
    } finally {
      closeFile(this.opened.db);
      this.opened = null;
    }
  }

  /** Returns null when another change has failed: retry without it. @param failed the changes to leave out */
  private transact(
    changes: readonly EncodedChange[],
    failed: Map<number, CommitResult>,
  ): readonly CommitResult[] | null {
    const opened = this.open();
    const results: CommitResult[] = [];
    opened.db.exec('BEGIN IMMEDIATE');
    try {
      this.options.reached?.('begun');
      for (const [index, change] of changes.entries()) {
        const result = failed.get(index) ?? opened.apply(change);
        results.push(result);
        if (result.kind === 'ok' || failed.has(index)) continue;
        this.rollBack(opened);
        // It may have met a row that was damaged while the file was open.
        if (!this.quarantine(opened)) for (const at of togetherWith(changes, index)) failed.set(at, result);
        return null;
      }
      opened.rows.memory.counts.flush();
      opened.number();
      this.options.reached?.('applied');
    } catch (error) {
      this.rollBack(opened);
      throw error;
    }
    this.end(opened);
    this.options.reached?.('committed');
    return results;
  }

  /** Quarantines damaged rows; returns whether there were any. */
  private quarantine({ db, rows }: Opened): boolean {
    const found = this.rescue?.quarantine(db) ?? [];
    this.aside.push(...found);
    if (found.length > 0) rows.memory.reload();
    return found.length > 0;
  }

  private commitAlone(sql: string, ...values: readonly Value[]): void {
    const opened = this.open();
    opened.db.exec('BEGIN IMMEDIATE');
    try {
      opened.db.change(sql)(...values);
      opened.number();
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
    const next = this.begin(this.connect());
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
    this.opened ??= this.begin(this.connect());
    return this.opened;
  }

  private begin(db: Connection): Opened {
    const rows = createRows(db, this.parts);
    return { db, rows, apply: createApply(rows), number: createNumbering(db) };
  }
}

function closeFile(db: Connection): void {
  try {
    emptyLog(db);
  } finally {
    db.close();
  }
}
