/** What the writer thread does, apart from its entry, so that a test can start one that dies on the way. */
import type { MessagePort } from 'node:worker_threads';
import { unpack } from './changes.ts';
import type { CommitOptions, CommitResult } from './commit.ts';
import { createTransactions } from './commit.ts';
import type { ThreadRequest } from './committer.ts';
import type { DurableCommit } from './durable-commit.ts';
import { createDurableCommit, foldLog } from './durable-commit.ts';
import { LogSync, openLogSync } from './log-sync.ts';
import type { Durability } from './open-database.ts';
import { openDatabase } from './open-database.ts';
import { StagedMover } from './staged-mover.ts';

export interface WriterOptions extends CommitOptions {
  readonly path: string;
  readonly durability: Durability;
}

/** Batches after which the log is synced though nobody waits for it. */
const SYNC_BATCHES = 64;

export function serveWriter(port: MessagePort, { path, durability, ...options }: WriterOptions): void {
  // SQLite itself syncs no commit: log-sync.ts does that for those that need it.
  const db = openDatabase(path, 'normal');
  const transactions = createTransactions(db, options);
  const { commit } = transactions;
  const { sync, close } = openLogSync(path);
  const log = new LogSync(sync);
  const mover = new StagedMover(transactions);
  const commitAsAsked: DurableCommit =
    durability === 'full' ? createDurableCommit({ db, commit, log }) : (batch, done) => done(commit(batch));
  const answer = (results: readonly CommitResult[]): void => port.postMessage(JSON.stringify(results));
  let unsynced = 0;
  /** Now and then, so that folding the log into the file, which nobody passes, does not have to wait for all of it. */
  const syncSometimes = (): void => {
    if (durability === 'full' || ++unsynced < SYNC_BATCHES) return;
    unsynced = 0;
    log.after(() => {});
  };
  const end = (): void => {
    foldLog(db);
    close();
    db.close();
    port.close();
  };
  port.on('message', (request: ThreadRequest) => {
    if (typeof request !== 'string') {
      commitAsAsked(unpack(request), answer);
      syncSometimes();
      mover.committed();
      return;
    }
    // Both behind the answers of the batches before.
    if (request === 'settle') {
      mover.moveAll();
      commitAsAsked([], answer);
    } else {
      mover.end();
      log.whenIdle(end);
    }
  });
}
