/** Where batches are committed: on the writer thread (a server), or right here (a command that ends soon). */
import type { Worker } from 'node:worker_threads';
import type { Mutation } from '../mutations.ts';
import { pack, toChange } from './changes.ts';
import type { CommitResult } from './commit.ts';
import { createTransactions } from './commit.ts';
import type { Durability } from './open-database.ts';
import { openDatabase } from './open-database.ts';
import type { Value } from './row-buffer.ts';

export interface Committer {
  /** Never rejects. Batches are committed in the order in which they come. */
  commit(batch: readonly Mutation[]): Promise<readonly CommitResult[]>;
  /** Resolves once everything that was committed is in its tables, as far as the medium takes it. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export function createInlineCommitter(path: string, durability: Durability): Committer {
  const db = openDatabase(path, durability);
  // It may end at any time: nobody would move what it has staged.
  const { commit } = createTransactions(db, { stagedFrom: Number.POSITIVE_INFINITY });
  return {
    commit: (batch) => Promise.resolve(commit(batch.map(toChange))),
    settle: () => Promise.resolve(),
    close() {
      db.close();
      return Promise.resolve();
    },
  };
}

/**
 * What the thread is told: a batch to commit, packed; to settle; or to settle, fold the log into the file and end. It
 * answers each of the first two, with the JSON of `CommitResult[]`: one text crosses threads at a fraction of what
 * cloning its objects costs.
 */
export type ThreadRequest = readonly Value[] | 'settle' | 'end';

/** Starts the writer thread. */
export type StartThread = () => Worker;

/**
 * Commits on a thread of its own, so that neither fsync nor a checkpoint stops the event loop. A thread that dies fails
 * the batches it had (whose fate is then unknown, as after any crash) and is started again for the next one.
 */
export function createThreadCommitter(start: StartThread, onDeath: (reason: string) => void): Committer {
  let thread: Worker | null = null;
  /** Who waits for the batches that the thread has, in their order. */
  const waiting: ((results: readonly CommitResult[] | null) => void)[] = [];
  const settle = (results: string): void => waiting.shift()?.(JSON.parse(results) as CommitResult[]);
  const running = (): Worker => {
    if (thread !== null) return thread;
    const started = start();
    started.on('message', settle);
    started.on('error', (error) => onDeath(error.message));
    started.on('exit', () => {
      thread = null;
      for (const resolve of waiting.splice(0)) resolve(null);
    });
    thread = started;
    return started;
  };
  const ask = (request: ThreadRequest): Promise<readonly CommitResult[] | null> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      running().postMessage(request);
    });
  running();
  return {
    async commit(batch) {
      const results = await ask(pack(batch));
      return results ?? batch.map(() => ({ kind: 'unavailable', message: 'the writer thread died' }));
    },
    async settle() {
      await ask('settle');
    },
    async close() {
      if (thread !== null) await ask('end');
    },
  };
}
