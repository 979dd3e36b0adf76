/**
 * Applies a batch of changes as one transaction, for the writer thread and for commands that write beside it.
 * When the medium refuses, nothing of the batch is stored. When one change is at fault, the others still are.
 */
import type Database from 'libsql';
import type { MutationResults } from '../mutations.ts';
import type { ApplierOptions } from './applier.ts';
import { createApplier } from './applier.ts';
import type { Change } from './changes.ts';
import type { StagedState } from './staging.ts';

export type CommitResult =
  | { readonly kind: 'ok'; readonly value: MutationResults[keyof MutationResults] }
  /** `unavailable`: the medium refused, worth another try later; `failed`: this change can never be applied. */
  | { readonly kind: 'unavailable' | 'failed'; readonly message: string };

export type Commit = (batch: readonly Change[]) => readonly CommitResult[];

/** Moments within a transaction, for tests that kill the process in them. */
export type CommitPoint = 'begun' | 'applied' | 'committed' | 'moving' | 'moved';

export interface CommitOptions extends ApplierOptions {
  readonly reached?: ((point: CommitPoint) => void) | undefined;
}

export interface Transactions {
  readonly commit: Commit;
  /**
   * Moves what is staged (staging.ts) into its tables: batches of about so many dispatches, oldest first.
   * @returns null, or why it stays where it is
   */
  moveStaged(dispatches: number): string | null;
  readonly staging: StagedState;
}

export function createTransactions(db: Database.Database, options: CommitOptions = {}): Transactions {
  const { reached = () => {} } = options;
  const applier = createApplier(db, options);
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
    staging: applier.staging,
    commit,
    moveStaged(dispatches) {
      try {
        transact(() => {
          applier.moveStaged(dispatches);
          reached('moving');
        });
        reached('moved');
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
