/**
 * The one connection that writes, on a thread of its own in a server. A group of changes is one transaction: all that
 * wait share its sync. A change that cannot be stored fails alone, and the others are stored without it.
 *
 * A commit that fails while it is synced leaves its frames in the write-ahead log, where a crash would bring them back.
 * So before anybody is told that nothing was stored, the connection is reopened and a small commit is written over them;
 * as long as that fails too, nothing else is committed.
 */
import type { MutationKind, MutationResults, Ref } from '../mutations.ts';
import type { DamageReport } from '../queries.ts';
import type { Connect, Connection } from './driver.ts';
import { connect as connectDriver, errorCode, isMediumError } from './driver.ts';
import type { EncodedChange } from './encode.ts';
import { decodeChange } from './encode.ts';
import type { SqlHandlers } from './handlers.ts';
import { applyChange, createHandlers } from './handlers.ts';
import type { Durability, Prepared } from './open-database.ts';
import { lengthenLog, mayPass, noteDamage, openWriting, prepareDatabase } from './open-database.ts';
import type { Rows } from './rows.ts';
import { createRows } from './rows.ts';
import { inTransaction } from './transaction.ts';

/** Moments of a commit, for tests that kill the process in them. */
export type CommitPoint = 'begun' | 'applied' | 'committed';

export interface WriterOptions {
  readonly path: string;
  readonly durability: Durability;
  /** Default: the driver's. */
  readonly connect?: Connect;
  readonly reached?: (point: CommitPoint) => void;
}

export type WriterRequest =
  | { readonly kind: 'prepare'; readonly now: number }
  /** `again`: the thread that had them has ended, nobody knows when. */
  | { readonly kind: 'commit'; readonly changes: readonly EncodedChange[]; readonly again: boolean }
  | { readonly kind: 'note_damage'; readonly damage: DamageReport }
  | { readonly kind: 'lengthen_log' | 'checkpoint' | 'close' };

export type CommitResult =
  | { readonly kind: 'ok'; readonly value: MutationResults[MutationKind] }
  /** `unavailable`: the medium failed, worth another try later. `failed`: this change can never be stored. */
  | { readonly kind: 'unavailable' | 'failed'; readonly message: string };

/** `refused`: this version cannot use the file. `unavailable`: the medium may do better later. */
export type PrepareResult =
  | ({ readonly kind: 'prepared' } & Prepared)
  | { readonly kind: 'refused' | 'unavailable'; readonly message: string };

/** How long those who wait are left waiting for a failed commit to be overwritten, in ms, and between two tries. */
const OVERWRITE_MS = 2000;
const RETRY_MS = 50;
/** The commit was cut off before its last frame: there is nothing to overwrite. */
const INCOMPLETE = /^SQLITE_(?:FULL|BUSY|IOERR_WRITE)/;

interface Opened {
  readonly db: Connection;
  readonly rows: Rows;
  readonly handlers: SqlHandlers;
}

export class Writer {
  private readonly options: WriterOptions;
  private opened: Opened | null = null;
  /** Why a failed commit may still be in the log. */
  private doubt: string | null = null;

  constructor(options: WriterOptions) {
    this.options = options;
  }

  /** Answers one request. */
  async serve(request: WriterRequest): Promise<unknown> {
    switch (request.kind) {
      case 'prepare':
        return this.prepare(request.now);
      case 'commit':
        // As one text: that crosses threads at a fraction of what cloning its objects costs.
        return JSON.stringify(this.commit(request.changes, request.again));
      case 'note_damage':
        return noteDamage(this.open().db, request.damage);
      case 'lengthen_log':
        return lengthenLog(this.options.path);
      case 'checkpoint':
        return this.open().db.exec('PRAGMA wal_checkpoint(PASSIVE)');
      case 'close':
        return this.close();
    }
  }

  private async prepare(now: number): Promise<PrepareResult> {
    const { connect = connectDriver, path, durability } = this.options;
    try {
      const { db, prepared } = await prepareDatabase(connect, path, now);
      db.exec(`PRAGMA synchronous = ${durability}`);
      this.opened = withHandlers(db);
      return { kind: 'prepared', ...prepared };
    } catch (error) {
      const message = messageOf(error);
      if (error instanceof Error && error.name === 'StoreRefused') return { kind: 'refused', message };
      const text = `cannot open ${path}: ${message}`;
      return { kind: mayPass(error) ? 'unavailable' : 'refused', message: text };
    }
  }

  /** Results in the order of the changes. */
  private commit(changes: readonly EncodedChange[], again: boolean): readonly CommitResult[] {
    const failed = new Map<number, CommitResult>();
    try {
      if (this.doubt !== null) this.overwrite();
      const opened = this.open();
      for (;;) {
        const results = this.transact(opened, changes, again, failed);
        if (results !== null) return results;
      }
    } catch (error) {
      const message = messageOf(error);
      return changes.map(() => ({ kind: 'unavailable', message }));
    }
  }

  /** Null: a change has failed, and the others are to be tried without it. @throws when nothing was stored */
  private transact(
    opened: Opened,
    changes: readonly EncodedChange[],
    again: boolean,
    failed: Map<number, CommitResult>,
  ): readonly CommitResult[] | null {
    const { reached } = this.options;
    const { db, rows, handlers } = opened;
    const results: CommitResult[] = [];
    db.exec('BEGIN IMMEDIATE');
    try {
      reached?.('begun');
      for (const [index, change] of changes.entries()) {
        const result = failed.get(index) ?? this.apply(rows, handlers, change, again);
        results.push(result);
        if (result.kind === 'ok' || failed.has(index)) continue;
        failed.set(index, result);
        this.rollBack(opened);
        return null;
      }
      rows.counts.flush();
      reached?.('applied');
    } catch (error) {
      this.rollBack(opened);
      throw error;
    }
    this.end(opened);
    reached?.('committed');
    return results;
  }

  /** @throws when the medium fails */
  private apply(rows: Rows, handlers: SqlHandlers, encoded: EncodedChange, again: boolean): CommitResult {
    const [, body, answer] = encoded;
    try {
      const change = decodeChange(encoded);
      const known = again && 'dispatch' in change && change.dispatch !== null ? findStored(rows, change.dispatch.id) : null;
      return { kind: 'ok', value: known ?? applyChange(handlers, change, { body, answer }) };
    } catch (error) {
      if (isMediumError(error)) throw error;
      return { kind: 'failed', message: messageOf(error) };
    }
  }

  private end(opened: Opened): void {
    try {
      opened.db.exec('COMMIT');
    } catch (error) {
      this.rollBack(opened);
      if (!INCOMPLETE.test(errorCode(error))) {
        this.doubt = messageOf(error);
        this.overwriteWithin(OVERWRITE_MS);
      }
      throw error;
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
    const next = this.connect();
    this.opened?.db.close();
    this.opened = next;
    const { db } = next;
    inTransaction(db, () => db.exec("INSERT OR REPLACE INTO meta VALUES ('failed_commit', hex(randomblob(8)))"));
    this.doubt = null;
    // Begins the log anew where no reader is in the way: what is left of the failed commit behind is no sign of damage.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  private open(): Opened {
    this.opened ??= this.connect();
    return this.opened;
  }

  private connect(): Opened {
    const { connect = connectDriver, path, durability } = this.options;
    return withHandlers(openWriting(connect, path, durability));
  }

  /** @throws nothing: a connection that cannot be rolled back is replaced before the next commit */
  private rollBack({ db, rows }: Opened): void {
    try {
      if (db.inTransaction) db.exec('ROLLBACK');
      rows.reload();
    } catch (error) {
      this.doubt = messageOf(error);
    }
  }

  private close(): void {
    this.opened?.db.close();
    this.opened = null;
  }
}

/** What became of a dispatch whose change may have been committed before: its result, once more. */
function findStored({ db }: Rows, id: string): MutationResults['join_group'] | null {
  const [ref, head, due_at] =
    db
      .query<[Ref, string, number]>('SELECT ref, d.head, w.due_at FROM dispatch d JOIN work w USING (ref) WHERE id = ?')
      .get(id) ?? [];
  if (ref === undefined || head === undefined || due_at === undefined) return null;
  return { kind: 'stored', ref, superseded: (JSON.parse(head) as [string, string, null, number])[3], due_at };
}

function withHandlers(db: Connection): Opened {
  const rows = createRows(db);
  return { db, rows, handlers: createHandlers(rows) };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
