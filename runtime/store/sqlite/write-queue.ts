/**
 * Group commit: gathers the writes of one turn of the event loop, and those that arrive while a commit is under way,
 * into one transaction. Order is kept.
 */
import type { Mutation, MutationResults } from '../mutations.ts';
import { StoreUnavailable } from '../store.ts';
import type { CommitResult } from './commit.ts';
import type { Committer } from './committer.ts';

interface Waiting {
  readonly mutation: Mutation;
  readonly settle: (result: CommitResult) => void;
}

/** Most changes of one transaction: bounds how long an answer waits for those before it. */
const MAX_BATCH = 1024;
/** So many changes do not wait for the end of the turn: while they are committed the turn goes on. */
const EARLY_BATCH = 64;

export class WriteQueue {
  private queue: Waiting[] = [];
  private committing = false;
  /** A look at the queue is due at the end of this turn. */
  private scheduled = false;
  private closed = false;
  private idle: (() => void)[] = [];
  private readonly committer: Committer;

  constructor(committer: Committer) {
    this.committer = committer;
  }

  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    // A late write must not start the writer again: nobody would end it, and the process would live on.
    if (this.closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise((resolve, reject) => {
      const settle = (result: CommitResult): void => {
        if (result.kind === 'ok') resolve(result.value as MutationResults[M['kind']]);
        else if (result.kind === 'unavailable') reject(new StoreUnavailable(result.message));
        else reject(new Error(`cannot store ${mutation.kind}: ${result.message}`));
      };
      this.queue.push({ mutation, settle });
      this.go();
    });
  }

  /** Commits now when it is worth it, else at the end of the turn: few batches cost less than many. */
  private go(): void {
    if (this.committing) return;
    if (this.queue.length >= EARLY_BATCH) void this.commit();
    else if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.onTurn);
    }
  }

  private readonly onTurn = (): void => {
    this.scheduled = false;
    if (!this.committing && this.queue.length > 0) void this.commit();
  };

  private async commit(): Promise<void> {
    this.committing = true;
    const batch = this.queue.length <= MAX_BATCH ? this.queue : this.queue.slice(0, MAX_BATCH);
    this.queue = this.queue.slice(batch.length);
    const results = await this.committer.commit(batch.map(({ mutation }) => mutation));
    this.committing = false;
    for (const [index, { settle }] of batch.entries()) {
      settle(results[index] ?? { kind: 'unavailable', message: 'no answer' });
    }
    if (this.queue.length > 0) this.go();
    else for (const wake of this.idle.splice(0)) wake();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.committing || this.queue.length > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
    await this.committer.close();
  }
}
