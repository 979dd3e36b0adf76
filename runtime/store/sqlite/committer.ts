/** Where batches are committed: on the writer thread (a server), or right here (a command that ends soon). */
import type { Worker } from 'node:worker_threads';
import type { Place } from '../journal/journal.ts';
import type { Change } from './applier.ts';
import type { CommitResult } from './commit.ts';
import { createTransactions } from './commit.ts';
import type { Durability } from './open-database.ts';
import { openDatabase } from './open-database.ts';
import type { ThreadAnswer, ThreadRequest } from './serve-writer.ts';

export interface Committer {
  /** Never rejects. Batches are committed in the order in which they come. */
  commit(batch: readonly Change[]): Promise<readonly CommitResult[]>;
  /** Resolves once everything that was committed is in its tables, as far as the medium takes it. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Commits beside a journal, which it brings into the tables up to where it is told. */
export interface FollowingCommitter extends Committer {
  /** Before any batch that comes later. `safe`: say so as soon as all of it is on the disk. */
  follow(place: Place, safe: boolean): void;
}

export interface FollowEvents {
  /** The journal is in the tables up to this number. */
  followed(number: number): void;
  /** It is on the disk there up to this number. */
  safe(number: number): void;
  /** Whoever was told to follow is gone, and has to be told again. */
  forgotten(): void;
}

export function createInlineCommitter(path: string, durability: Durability): Committer {
  const db = openDatabase(path, durability);
  const { commit } = createTransactions(db);
  return {
    commit: (batch) => Promise.resolve(commit(batch)),
    settle: () => Promise.resolve(),
    close() {
      db.close();
      return Promise.resolve();
    },
  };
}

/** Starts the writer thread. */
export type StartThread = () => Worker;

export interface ThreadCommitterParts {
  readonly start: StartThread;
  readonly events: FollowEvents;
  readonly onDeath: (reason: string) => void;
}

/**
 * Commits on a thread of its own, so that neither fsync nor a checkpoint stops the event loop. A thread that dies fails
 * the batches it had (whose fate is then unknown, as after any crash) and is started again for the next one.
 */
export function createThreadCommitter({ start, events, onDeath }: ThreadCommitterParts): FollowingCommitter {
  let thread: Worker | null = null;
  /** Who waits for the batches that the thread has, in their order. */
  const waiting: ((results: readonly CommitResult[] | null) => void)[] = [];
  const hear = (answer: ThreadAnswer): void => {
    if (typeof answer === 'string') waiting.shift()?.(JSON.parse(answer) as CommitResult[]);
    else if ('followed' in answer) events.followed(answer.followed);
    else events.safe(answer.safe);
  };
  const running = (): Worker => {
    if (thread !== null) return thread;
    const started = start();
    started.on('message', hear);
    started.on('error', (error) => onDeath(error.message));
    started.on('exit', () => {
      thread = null;
      events.forgotten();
      for (const resolve of waiting.splice(0)) resolve(null);
    });
    thread = started;
    return started;
  };
  const tell = (request: ThreadRequest): void => running().postMessage(request);
  const ask = (request: ThreadRequest): Promise<readonly CommitResult[] | null> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      tell(request);
    });
  running();
  return {
    async commit(batch) {
      const results = await ask(JSON.stringify(batch));
      return results ?? batch.map(() => ({ kind: 'unavailable', message: 'the writer thread died' }));
    },
    follow: (place, safe) => tell({ follow: place, safe }),
    async settle() {
      await ask('settle');
    },
    async close() {
      if (thread !== null) await ask('end');
    },
  };
}
