/**
 * Applies a batch of changes as one transaction, for the writer thread and for commands that write beside it.
 * When the medium refuses, nothing of the batch is stored. When one change is at fault, the others still are.
 */
import type Database from 'libsql';
import type { Mutation, MutationResults } from '../mutations.ts';
import type { Claiming } from './handlers.ts';
import { createApplier } from './handlers.ts';
import { ClaimHeld } from './new-rows.ts';

export type CommitResult =
  | { readonly kind: 'ok'; readonly value: MutationResults[keyof MutationResults] }
  /** `unavailable`: the medium refused, worth another try later; `failed`: this change can never be applied. */
  | { readonly kind: 'unavailable' | 'failed'; readonly message: string };

export type Commit = (batch: readonly Mutation[]) => readonly CommitResult[];

/** Moments within a commit, for tests that kill the process in them. */
export type CommitPoint = 'begun' | 'applied' | 'committed';

export function createCommit(db: Database.Database, reached: (point: CommitPoint) => void = () => {}): Commit {
  const applier = createApplier(db);
  const transact = (batch: readonly Mutation[], claiming: Claiming): readonly CommitResult[] => {
    db.exec('BEGIN IMMEDIATE');
    reached('begun');
    const results = batch.map((mutation) => ({ kind: 'ok', value: applier.apply(mutation, claiming) }) as const);
    applier.finish();
    reached('applied');
    db.exec('COMMIT');
    reached('committed');
    return results;
  };
  const attempt = (batch: readonly Mutation[], claiming: Claiming): readonly CommitResult[] => {
    try {
      return transact(batch, claiming);
    } catch (error) {
      applier.discard();
      rollback(db);
      if (error instanceof ClaimHeld) return attempt(batch, 'checked');
      const message = error instanceof Error ? error.message : String(error);
      if (!isOurFault(error)) return batch.map(() => ({ kind: 'unavailable', message }));
      if (batch.length === 1) return [{ kind: 'failed', message }];
      return batch.flatMap((mutation) => attempt([mutation], 'checked'));
    }
  };
  return (batch) => attempt(batch, 'granted');
}

function rollback(db: Database.Database): void {
  try {
    if (db.inTransaction) db.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself already.
  }
}

/** Errors of a statement or its values; everything else is the medium's (full, read-only, I/O, busy, corrupt). */
const OURS = /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|MISUSE|RANGE|TOOBIG)/;

function isOurFault(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error && typeof error.code === 'string') || OURS.test(error.code);
}
