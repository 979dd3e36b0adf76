/**
 * Commits that are answered only once they are on the disk. A disk that does not take the log once has perhaps lost what
 * was in it, and all that follows in the log with it: nothing is acknowledged then until everything was brought to the
 * disk another way, by folding the log into the file.
 */
import type Database from 'libsql';
import type { Change } from './applier.ts';
import type { Commit, CommitResult } from './commit.ts';
import type { LogSync } from './log-sync.ts';

/** Answers are given in the order of the batches. */
export type DurableCommit = (batch: readonly Change[], answer: (results: readonly CommitResult[]) => void) => void;

export interface DurableCommitParts {
  readonly db: Database.Database;
  readonly commit: Commit;
  readonly log: LogSync;
}

export function createDurableCommit({ db, commit, log }: DurableCommitParts): DurableCommit {
  /** Why what was committed may not be on the disk; null: it is, or its sync is still to come. */
  let doubt: string | null = null;
  return (batch, answer) => {
    if (doubt !== null && foldLog(db)) doubt = null;
    const results = doubt === null ? commit(batch) : unavailable(batch, doubt);
    log.after((error) => {
      if (error !== null) doubt = `the disk did not take the log: ${error.message}`;
      answer(doubt === null ? results : unavailable(batch, doubt));
    });
  };
}

export const unavailable = (batch: readonly Change[], message: string): readonly CommitResult[] =>
  batch.map(() => ({ kind: 'unavailable', message }));

/** Folds the log into the file and syncs both; true when all that was committed is on the disk then. */
export function foldLog(db: Database.Database): boolean {
  try {
    const [busy] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().get([]) as [number];
    return busy === 0;
  } catch {
    return false;
  }
}
