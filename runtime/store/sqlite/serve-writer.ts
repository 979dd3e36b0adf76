/** What the writer thread does, apart from its entry, so that a test can start one that dies on the way. */
import type { MessagePort } from 'node:worker_threads';
import type { Mutation } from '../mutations.ts';
import type { CommitPoint, CommitResult } from './commit.ts';
import { createCommit } from './commit.ts';
import type { ThreadRequest } from './committer.ts';
import type { DurableCommit } from './durable-commit.ts';
import { createDurableCommit, foldLog } from './durable-commit.ts';
import { LogSync, openLogSync } from './log-sync.ts';
import type { Durability } from './open-database.ts';
import { openDatabase } from './open-database.ts';

export interface WriterOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly reached?: (point: CommitPoint) => void;
}

/** Text of the changes after which the log is synced though nobody waits for it, in UTF-16 units. */
const SYNC_CHARS = 2_000_000;

export function serveWriter(port: MessagePort, { path, durability, reached }: WriterOptions): void {
  // SQLite itself syncs no commit: log-sync.ts does that for those that need it.
  const db = openDatabase(path, 'normal');
  const commit = createCommit(db, reached);
  const { sync, close } = openLogSync(path);
  const log = new LogSync(sync);
  const commitAsAsked: DurableCommit =
    durability === 'full' ? createDurableCommit({ db, commit, log }) : (batch, done) => done(commit(batch));
  const answer = (results: readonly CommitResult[]): void => port.postMessage(JSON.stringify(results));
  let unsynced = 0;
  /** Now and then, so that folding the log into the file, which nobody passes, does not have to wait for all of it. */
  const syncSometimes = (chars: number): void => {
    unsynced += chars;
    if (durability === 'full' || unsynced < SYNC_CHARS) return;
    unsynced = 0;
    log.after(() => {});
  };
  port.on('message', (request: ThreadRequest) => {
    if (request !== null) {
      commitAsAsked(JSON.parse(request) as Mutation[], answer);
      syncSometimes(request.length);
      return;
    }
    log.whenIdle(() => {
      foldLog(db);
      close();
      db.close();
      port.close();
    });
  });
}
