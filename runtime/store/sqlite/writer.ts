/** What the writer does for the store, on a thread of its own in a server: prepares the file, and commits groups. */
import { messageOf } from '../../../base/message-of.ts';
import { describeDiskError } from '../../platform/describe-disk-error.ts';
import type { CommitResult, EncodedChange } from '../encode.ts';
import type { DamageReport } from '../queries.ts';
import { StoreRefused } from '../store.ts';
import type { Connect } from './driver.ts';
import { connect as connectDriver, isMalformed } from './driver.ts';
import type { Durability, Prepared } from './open-database.ts';
import { mayPass, noteChecked, openWriting, prepareDatabase } from './open-database.ts';
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
  /** For tests that kill the process within a commit. */
  readonly reached?: (point: CommitPoint) => void;
}

export type WriterRequest =
  | { readonly kind: 'prepare'; readonly now: number }
  /** `again`: the thread that had them has ended, and how far it came is unknown. */
  | { readonly kind: 'commit'; readonly changes: readonly EncodedChange[]; readonly again: boolean }
  /** `broken`: what was found when all of the file was checked. */
  | { readonly kind: 'note_checked'; readonly broken: DamageReport | null }
  | { readonly kind: 'probe' | 'checkpoint' | 'close' };

/** `refused`: this version cannot use the file. `unavailable`: the medium may do better later. */
export type PrepareResult =
  | ({ readonly kind: 'prepared' } & Prepared)
  | { readonly kind: 'refused' | 'unavailable'; readonly message: string };

export class Writer {
  private readonly options: WriterOptions;
  private readonly transactions: Transactions;

  constructor(options: WriterOptions) {
    const { path, durability, connect = connectDriver, reached = () => {} } = options;
    this.options = options;
    this.transactions = new Transactions(() => openWriting(connect, path, durability), reached);
  }

  /** @returns the result of `prepare`; those of a commit as JSON */
  async serve(request: WriterRequest): Promise<PrepareResult | string | null> {
    const { transactions } = this;
    switch (request.kind) {
      case 'prepare':
        return this.prepare(request.now);
      case 'commit':
        // As one text: that crosses threads at a fraction of what cloning its objects costs.
        return JSON.stringify(this.commit(request.changes, request.again));
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

  private async prepare(now: number): Promise<PrepareResult> {
    const { connect = connectDriver, path, durability } = this.options;
    try {
      const { db, prepared } = await prepareDatabase(connect, path, now);
      db.exec(`PRAGMA synchronous = ${durability}`);
      this.transactions.use(db);
      return { kind: 'prepared', ...prepared };
    } catch (error) {
      const message = describeDiskError(error);
      if (error instanceof StoreRefused) return { kind: 'refused', message };
      if (isMalformed(error)) return { kind: 'refused', message: `${damaged(path, message)}\n${SAVE}` };
      return { kind: mayPass(error) ? 'unavailable' : 'refused', message: `cannot open ${path}: ${message}` };
    }
  }

  private commit(changes: readonly EncodedChange[], again: boolean): readonly CommitResult[] {
    try {
      return this.transactions.commit(changes, again);
    } catch (error) {
      const message = messageOf(error);
      const kind = error instanceof CommitInDoubt ? 'in_doubt' : 'unavailable';
      return changes.map(() => ({ kind, message }));
    }
  }
}

/** A file that begins like no database may never have been one. */
const damaged = (path: string, message: string): string =>
  /not a database/.test(message) ? `cannot open ${path}: ${message}` : `${path} is damaged: ${message}`;
