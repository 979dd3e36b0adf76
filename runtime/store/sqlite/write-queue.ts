/**
 * Group commit: gathers the writes of one turn of the event loop, and those that arrive while the writer has enough to
 * do, into one transaction. Order is kept.
 */
import type { ClaimKey, Mutation, MutationResults } from '../mutations.ts';
import { StoreUnavailable } from '../store.ts';
import type { CommitResult } from './commit.ts';
import type { Committer } from './committer.ts';
import { claimOf } from './recent-claims.ts';

/** Called with each change that was committed, before whoever waits for it. */
export type OnCommitted = (mutation: Mutation, result: MutationResults[keyof MutationResults]) => void;

export interface CommitHooks {
  readonly committed: OnCommitted;
  /** Called before a batch leaves for the writer. */
  readonly beforeCommit?: (() => void) | undefined;
}

type Settle = (result: CommitResult) => void;

/** Most changes of one transaction: bounds how long an answer waits for those before it. */
const MAX_BATCH = 1024;
/** Batches at the writer: one on its way to the disk, one being applied, and the next there already. */
const MAX_SENT = 3;

export class WriteQueue {
  private queue: Mutation[] = [];
  /** Who waits for each change of the queue. */
  private waiting: Settle[] = [];
  /** Batches whose results are not known yet. */
  private readonly sent: (readonly Mutation[])[] = [];
  /** The end of the turn will look at the queue. */
  private due = false;
  private closed = false;
  private idle: (() => void)[] = [];
  private readonly committer: Committer;
  private readonly hooks: CommitHooks;

  constructor(committer: Committer, hooks: CommitHooks) {
    this.committer = committer;
    this.hooks = hooks;
  }

  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    // A late write must not start the writer again: nobody would end it, and the process would live on.
    if (this.closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    return new Promise((resolve, reject) => {
      this.queue.push(mutation);
      this.waiting.push((result) => {
        if (result.kind === 'ok') {
          this.hooks.committed(mutation, result.value);
          resolve(result.value as MutationResults[M['kind']]);
        } else if (result.kind === 'unavailable') reject(new StoreUnavailable(result.message));
        else reject(new Error(`cannot store ${mutation.kind}: ${result.message}`));
      });
      if (this.due) return;
      this.due = true;
      setImmediate(this.onTurn);
    });
  }

  /** True while a claim of the id is on its way to being committed. */
  isClaiming({ profile, route, delivery_id }: ClaimKey): boolean {
    const isSame = (mutation: Mutation): boolean => {
      const claim = claimOf(mutation);
      return claim?.delivery_id === delivery_id && claim.route === route && claim.profile === profile;
    };
    return [this.queue, ...this.sent].some((batch) => batch.some(isSame));
  }

  /** Resolves once what was committed can be read. */
  async settle(): Promise<void> {
    if (!this.closed) await this.committer.settle();
  }

  private readonly onTurn = (): void => {
    this.due = false;
    this.commitNext();
  };

  private commitNext(): void {
    if (this.sent.length < MAX_SENT && this.queue.length > 0) void this.commit();
  }

  private async commit(): Promise<void> {
    const batch = this.queue.splice(0, MAX_BATCH);
    this.sent.push(batch);
    const waiting = this.waiting.splice(0, MAX_BATCH);
    this.hooks.beforeCommit?.();
    const results = await this.committer.commit(batch);
    // Results come in the order of the batches.
    this.sent.shift();
    waiting.forEach((settle, index) => {
      settle(results[index] ?? { kind: 'unavailable', message: 'no answer' });
    });
    // What this turn still brings goes with its end.
    if (!this.due) this.commitNext();
    if (this.sent.length === 0 && this.queue.length === 0) for (const wake of this.idle.splice(0)) wake();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.sent.length > 0 || this.queue.length > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
    await this.committer.close();
  }
}
