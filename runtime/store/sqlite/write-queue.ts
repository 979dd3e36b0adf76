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
/** Fewer changes than these always wait for the end of their turn. */
const MIN_EARLY = 8;

export class WriteQueue {
  private queue: Waiting[] = [];
  private committing = false;
  /** Changes of this turn, and what turns have brought of late. */
  private brought = 0;
  private usual = 0;
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
      if (this.brought++ === 0) setImmediate(this.onTurn);
      else if (this.isWorthIt()) void this.commit();
    });
  }

  /**
   * Half of what a turn usually brings does not wait for its end: it is committed while the turn goes on, so that
   * neither the writer nor the event loop waits for the other.
   */
  private isWorthIt(): boolean {
    return !this.committing && this.queue.length >= Math.max(MIN_EARLY, this.usual / 2);
  }

  private readonly onTurn = (): void => {
    this.usual = (this.usual + this.brought) / 2;
    this.brought = 0;
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
    // What is left goes now when nothing more comes with this turn, else with it.
    if (this.queue.length > 0 && (this.brought === 0 || this.isWorthIt())) void this.commit();
    else if (this.queue.length === 0) for (const wake of this.idle.splice(0)) wake();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.committing || this.queue.length > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
    await this.committer.close();
  }
}
