/**
 * Group commit: gathers the writes of one turn of the event loop, and those that arrive while the writer has enough to
 * do, into one transaction. Under load the journal takes most of them before, and says when turns share a commit
 * (journal-lane.ts).
 */
import type { ClaimKey, Mutation, MutationResults } from '../mutations.ts';
import { StoreUnavailable } from '../store.ts';
import type { Change } from './applier.ts';
import type { Committer } from './committer.ts';
import type { JournalLane } from './journal-lane.ts';
import type { OnCommitted } from './pending.ts';
import { Pending } from './pending.ts';
import { claimOf } from './recent-claims.ts';

export interface CommitHooks {
  readonly committed: OnCommitted;
  /** Called before anything leaves for the disk but events that are only accepted. */
  readonly beforeCommit?: (() => void) | undefined;
  /** Of a server. */
  readonly lane?: JournalLane;
}

/** Most changes of one transaction: bounds how long an answer waits for those before it. */
const MAX_BATCH = 1024;
/** Batches at the writer: one on its way to the disk, one being applied, and the next there already. */
const MAX_SENT = 3;

export class WriteQueue {
  /** Of this turn. */
  private fresh: Pending[] = [];
  /** What the writer is to have next. */
  private queue: Pending[] = [];
  /** Batches whose results are not known yet. */
  private readonly sent: (readonly Pending[])[] = [];
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
      this.fresh.push(new Pending(mutation, resolve, reject));
      if (this.fresh.length === 1) setImmediate(this.onTurn);
      else if (this.hooks.lane?.isEnough(this.fresh.length) === true) this.onTurn();
    });
  }

  /** Whether an id is claimed by an event that was committed and is not in the tables. */
  isClaimed(key: ClaimKey, now: number): boolean {
    return this.hooks.lane?.isClaimed(key, now) === true;
  }

  /** True while a claim of the id is on its way to being committed. */
  isClaiming(key: ClaimKey): boolean {
    return claims(this.fresh, key) || this.isAtWriter(key) || this.hooks.lane?.isClaiming(key) === true;
  }

  /** Resolves once what was committed can be read. */
  async settle(): Promise<void> {
    if (this.closed) return;
    this.hooks.lane?.overtake();
    await this.committer.settle();
  }

  private readonly onTurn = (): void => {
    const { fresh } = this;
    if (fresh.length === 0) return;
    const { lane, beforeCommit } = this.hooks;
    if (lane?.awaitsMore(fresh) === true) {
      setImmediate(this.onTurn);
      return;
    }
    this.fresh = [];
    if (fresh.some(({ mutation }) => mutation.kind !== 'accept')) beforeCommit?.();
    const rest = lane === undefined ? fresh : lane.take(fresh, this.isAtWriter);
    lane?.makeWayFor(rest);
    this.queue.push(...rest);
    this.commitNext();
    this.wakeWhenIdle();
  };

  /** Whether the id is in a change that the writer has, or is to have next. */
  private readonly isAtWriter = (key: ClaimKey): boolean =>
    claims(this.queue, key) || this.sent.some((batch) => claims(batch, key));

  private commitNext(): void {
    if (this.sent.length < MAX_SENT && this.queue.length > 0) void this.commit();
  }

  private async commit(): Promise<void> {
    const batch = this.queue.splice(0, MAX_BATCH);
    const { lane, committed } = this.hooks;
    this.sent.push(batch);
    const changes = batch.map(({ mutation }): Change => ({ ref: lane?.numberFor(mutation) ?? null, mutation }));
    const results = await this.committer.commit(changes);
    // Results come in the order of the batches.
    this.sent.shift();
    batch.forEach((pending, index) => {
      lane?.noteClaim(pending.mutation);
      pending.settle(results[index] ?? { kind: 'unavailable', message: 'no answer' }, committed);
    });
    // What this turn still brings goes with its end.
    if (this.fresh.length === 0) this.commitNext();
    this.wakeWhenIdle();
  }

  private wakeWhenIdle(): void {
    if (this.isIdle) for (const wake of this.idle.splice(0)) wake();
  }

  private get isIdle(): boolean {
    return this.fresh.length === 0 && this.queue.length === 0 && this.sent.length === 0;
  }

  async close(): Promise<void> {
    this.closed = true;
    if (!this.isIdle) await new Promise<void>((resolve) => this.idle.push(resolve));
    const { lane } = this.hooks;
    await lane?.finish();
    await this.committer.close();
    lane?.close();
  }
}

function claims(batch: readonly Pending[], { profile, route, delivery_id }: ClaimKey): boolean {
  return batch.some(({ mutation }) => {
    const claim = claimOf(mutation);
    return claim?.delivery_id === delivery_id && claim.route === route && claim.profile === profile;
  });
}
