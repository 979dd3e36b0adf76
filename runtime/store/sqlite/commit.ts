/**
 * Applies a batch of changes as one transaction, for the writer thread and for commands that write beside it.
 * When the medium refuses, nothing of the batch is stored. When one change is at fault, the others still are.
 */
import type Database from 'libsql';
import type { MutationResults } from '../mutations.ts';
import type { Change } from './applier.ts';
import { createApplier } from './applier.ts';
import type { Batch } from './batch-text.ts';
import { createMark } from './journal-mark.ts';

export type CommitResult =
  | { readonly kind: 'ok'; readonly value: MutationResults[keyof MutationResults] }
  /** `unavailable`: the medium refused, worth another try later; `failed`: this change can never be applied. */
  | { readonly kind: 'unavailable' | 'failed'; readonly message: string };

export type Commit = (batch: readonly Change[]) => readonly CommitResult[];

/** Moments within a transaction, for tests that kill the process in them. */
export type CommitPoint = 'begun' | 'applied' | 'committed' | 'following' | 'followed';

export interface Transactions {
  readonly commit: Commit;
  /**
   * Brings batches of the journal into their tables, and notes that it was done up to the record of this number.
   * @returns null, or why nothing of it was done
   */
  follow(batches: readonly Batch[], number: number): string | null;
}

export function createTransactions(
  db: Database.Database,
  reached: (point: CommitPoint) => void = () => {},
): Transactions {
  const applier = createApplier(db);
  const mark = createMark(db);
  /** @throws whatever gets in the way, with everything as it was before */
  const transact = <T>(work: () => T): T => {
    try {
      db.exec('BEGIN IMMEDIATE');
      applier.begin();
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      applier.discard();
      rollback(db);
      throw error;
    }
  };
  const apply = (batch: readonly Change[]): readonly CommitResult[] => {
    reached('begun');
    const results = batch.map((change) => ({ kind: 'ok', value: applier.apply(change) }) as const);
    applier.finish();
    reached('applied');
    return results;
  };
  const commit: Commit = (batch) => {
    try {
      const results = transact(() => apply(batch));
      reached('committed');
      return results;
    } catch (error) {
      const message = messageOf(error);
      if (!isOurFault(error)) return batch.map(() => ({ kind: 'unavailable', message }));
      if (batch.length === 1) return [{ kind: 'failed', message }];
      return batch.flatMap((change) => commit([change]));
    }
  };
  return {
    commit,
    follow(batches, number) {
      try {
        transact(() => {
          applier.applyBatches(batches);
          mark.put(number);
          applier.finish();
          reached('following');
        });
        reached('followed');
        return null;
      } catch (error) {
        return messageOf(error);
      }
    },
  };
}

function rollback(db: Database.Database): void {
  try {
    if (db.inTransaction) db.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself already.
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Errors of a statement or its values; everything else is the medium's (full, read-only, I/O, busy, corrupt). */
const OURS = /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|MISUSE|RANGE|TOOBIG)/;

function isOurFault(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error && typeof error.code === 'string') || OURS.test(error.code);
}
