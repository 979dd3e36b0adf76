/** The writer of the store, which in a server has its own thread: prepares the file and commits groups of changes. */
import { messageOf } from '../../../base/message-of.ts';
import { describeDiskError } from '../../platform/describe-disk-error.ts';
import type { CommitResult, EncodedChange } from '../encode.ts';
import type { DamageReport } from '../queries.ts';
import { StoreRefused } from '../store.ts';
import type { Connect, Connection } from './driver.ts';
import { connect as connectDriver, isMalformed } from './driver.ts';
import { markLog } from './log-mark.ts';
import type { Durability, Prepared } from './open-database.ts';
import { isTemporary, noteChecked, openWriting, prepareDatabase, prepareMemory } from './open-database.ts';
import { markOpen } from './store-note.ts';
import type { CommitPoint } from './transactions.ts';
import { CommitInDoubt, Transactions } from './transactions.ts';

const SAVE =
  'keep a copy of it; then restore a backup, or save what can be read: ' +
  'sqlite3 state.db .recover | sqlite3 recovered.db';

export interface WriterOptions {
  readonly path: string;
  readonly durability: Durability;
  /** Default: the driver's. */
  readonly connect?: Connect;
  /** The connection of a store in memory, which has no file to prepare and to mark. */
  readonly shared?: Connection;
  /** For tests that kill the process within a commit. */
  readonly reached?: (point: CommitPoint) => void;
}

export type WriterRequest =
  | { readonly kind: 'prepare'; readonly now: number }
  | { readonly kind: 'commit'; readonly changes: readonly EncodedChange[] }
  /** `broken`: damage found by a check of the whole file. */
  | { readonly kind: 'note_checked'; readonly broken: DamageReport | null }
  | { readonly kind: 'probe' | 'checkpoint' | 'close' };

/** The answer to `commit`, as JSON. `aside`: damaged rows that it has set aside. */
export interface Committed {
  readonly results: readonly CommitResult[];
  readonly aside: readonly string[];
}

/** `refused`: this version cannot use the file. `unavailable`: the medium failed, perhaps temporarily. */
export type PrepareResult =
  | ({ readonly kind: 'prepared' } & Prepared)
  | { readonly kind: 'refused' | 'unavailable'; readonly message: string };

export class Writer {
  private readonly options: WriterOptions;
  private readonly transactions: Transactions;
  private isMarked: boolean;
  private isLogMarked: boolean;

  constructor(options: WriterOptions) {
    const { path, durability, shared, connect = connectDriver, reached = () => {} } = options;
    this.options = options;
    this.isMarked = shared !== undefined;
    this.isLogMarked = this.isMarked;
    this.transactions = new Transactions(() => {
      if (shared !== undefined) return shared;
      this.isLogMarked = false;
      return openWriting(connect, path, durability);
    }, reached);
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
        noteChecked(transactions.db, request.broken);
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
      const { db, prepared } = shared === undefined ? prepareDatabase(connect, path, now) : prepareMemory(shared);
      db.exec(`PRAGMA synchronous = ${durability}`);
      this.transactions.use(db);
      return { kind: 'prepared', ...prepared };
    } catch (error) {
      const message = describeDiskError(error);
      if (error instanceof StoreRefused) return { kind: 'refused', message };
      if (isMalformed(error)) return { kind: 'refused', message: `${damaged(path, message)}\n${SAVE}` };
      return { kind: isTemporary(error) ? 'unavailable' : 'refused', message: `cannot open ${path}: ${message}` };
    }
  }

  private commit(changes: readonly EncodedChange[]): readonly CommitResult[] {
    try {
      this.isMarked ||= markOpen(this.transactions.db, this.options.path);
      const results = this.transactions.commit(changes);
      // Once the file alone says whose mark it is.
      this.isLogMarked ||= this.isMarked && markLog(this.transactions.db, this.options.path);
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
