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

export class WriteQueue {
  private queue: Waiting[] = [];
  private busy = false;
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
      if (this.busy) return;
      this.busy = true;
      setImmediate(() => void this.flush());
    });
  }

  /** Commits until nothing waits. */
  private async flush(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.length <= MAX_BATCH ? this.queue : this.queue.slice(0, MAX_BATCH);
      this.queue = this.queue.slice(batch.length);
      const results = await this.committer.commit(batch.map(({ mutation }) => mutation));
      for (const [index, { settle }] of batch.entries()) {
        settle(results[index] ?? { kind: 'unavailable', message: 'no answer' });
      }
    }
    this.busy = false;
    for (const wake of this.idle.splice(0)) wake();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.busy) await new Promise<void>((resolve) => this.idle.push(resolve));
    await this.committer.close();
  }
}
