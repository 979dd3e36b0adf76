/** What the writer thread does, apart from its entry, so that a test can start one that dies on the way. */
import type { MessagePort } from 'node:worker_threads';
import type { Place } from '../journal/journal.ts';
import type { Change } from './applier.ts';
import type { CommitPoint, CommitResult } from './commit.ts';
import { createTransactions } from './commit.ts';
import type { DurableCommit } from './durable-commit.ts';
import { createDurableCommit, foldLog, unavailable } from './durable-commit.ts';
import { Follower } from './follower.ts';
import { LogSync, openLogSync } from './log-sync.ts';
import type { Durability } from './open-database.ts';
import { openDatabase } from './open-database.ts';

export interface WriterOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly reached?: ((point: CommitPoint) => void) | undefined;
}

/**
 * What the thread is told: a batch to commit, as JSON of `Change[]`; to follow the journal up to a place, and to say when
 * all of that is `safe`; to answer once it has done so; or to end.
 */
export type ThreadRequest = string | { readonly follow: Place; readonly safe: boolean } | 'settle' | 'end';

/**
 * What it answers: to each batch, and when it has settled, JSON of `CommitResult[]` (one text crosses threads at a
 * fraction of what cloning its objects costs); the number up to which the journal is in the tables, and up to which that
 * is on the disk.
 */
export type ThreadAnswer = string | { readonly followed: number } | { readonly safe: number };

/** Batches after which the log is synced though nobody waits for it. */
const SYNC_BATCHES = 64;
/** After the medium has refused what is in the journal, in ms. */
const RETRY_MS = 1000;

export function serveWriter(port: MessagePort, { path, durability, reached }: WriterOptions): void {
  // SQLite itself syncs no commit: log-sync.ts does that for those that need it.
  const db = openDatabase(path, 'normal');
  const transactions = createTransactions(db, reached);
  const { commit } = transactions;
  const { sync, close } = openLogSync(path);
  const log = new LogSync(sync);
  const follower = new Follower(path, db, transactions);
  const commitAsAsked: DurableCommit =
    durability === 'full' ? createDurableCommit({ db, commit, log }) : (batch, done) => done(commit(batch));
  const post = (answer: ThreadAnswer): void => port.postMessage(answer);
  const answer = (results: readonly CommitResult[]): void => post(JSON.stringify(results));
  let retry: NodeJS.Timeout | null = null;
  let unsynced = 0;
  /** Now and then, so that folding the log into the file, which nobody passes, does not have to wait for all of it. */
  const syncSometimes = (): void => {
    if (durability === 'full' || ++unsynced < SYNC_BATCHES) return;
    unsynced = 0;
    log.after(() => {});
  };
  const follow = (): string | null => {
    const before = follower.done;
    const refused = follower.follow();
    if (follower.done > before) {
      post({ followed: follower.done });
      syncSometimes();
    }
    if (refused !== null) {
      retry ??= setTimeout(() => {
        retry = null;
        follow();
      }, RETRY_MS);
    }
    return refused;
  };
  const sayWhenSafe = (): void => {
    const number = follower.done;
    log.after((error) => {
      if (error === null) post({ safe: number });
    });
  };
  const end = (): void => {
    const number = follower.done;
    if (foldLog(db)) post({ safe: number });
    follower.close();
    close();
    db.close();
    port.close();
  };
  port.on('message', (request: ThreadRequest) => {
    if (request === 'end') {
      if (retry !== null) clearTimeout(retry);
      log.whenIdle(end);
    } else if (request === 'settle') {
      follow();
      // Behind the answers of the batches before.
      commitAsAsked([], answer);
    } else if (typeof request === 'string') {
      const batch = JSON.parse(request) as readonly Change[];
      // What the batch builds on may be in the journal alone.
      const behind = follow();
      if (behind === null) commitAsAsked(batch, answer);
      else log.after(() => answer(unavailable(batch, behind)));
      syncSometimes();
    } else {
      follower.aim(request.follow);
      follow();
      if (request.safe) sayWhenSafe();
    }
  });
}
