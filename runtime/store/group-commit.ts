/**
 * Group commit: what arrives while a commit is under way forms the next transaction, which goes out the moment the last
 * one's answer comes. Nothing waits for a timer.
 *
 * Beyond what the disk takes the queue is bounded, in bytes and in time: a new event is rejected while more waits than
 * the next transaction takes and the oldest change has waited long, and one that has waited too long itself is taken out
 * again. What records things that have happened is never rejected for load.
 *
 * Waits are counted in ticks, and not by the clock: an event loop that was blocked has the results of meanwhile to give
 * first.
 */
import { messageOf } from '../../base/message-of.ts';
import type { CommitResult, EncodedChange } from './encode.ts';
import { encodeChange } from './encode.ts';
import type { Mutation, MutationKind, MutationResults } from './mutations.ts';
import { StoreInDoubt, StoreUnavailable } from './store.ts';

export interface GroupCommitParts {
  /** Rejects when it is unknown whether anything was stored. */
  readonly commit: (changes: readonly EncodedChange[]) => Promise<readonly CommitResult[]>;
  /** Before a group that records what has happened. */
  readonly beforeCommit: (() => void) | undefined;
  /** A group was not stored. */
  readonly failed: (problem: string) => void;
}

interface Waiting {
  readonly kind: MutationKind;
  readonly change: EncodedChange;
  readonly chars: number;
  /** Tick at which it came. */
  readonly since: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Changes that bring new work: their senders can retry. */
export const NEW_WORK: ReadonlySet<MutationKind> = new Set(['accept', 'join_group', 'fire_job']);
/** While changes wait. */
const TICK_MS = 100;
/** Age of the oldest waiting change from which on new work may be rejected, and at which it is taken out, in ticks. */
const LONG = 5;
const TOO_LONG = 9;
/** UTF-16 units of text that may wait; those of one group, and its changes. */
const MAX_WAITING_CHARS = 32 * 1024 * 1024;
const GROUP_CHARS = 4 * 1024 * 1024;
const GROUP_CHANGES = 1000;

const OVERLOADED = 'more arrives than the disk takes: retry later';

export class GroupCommit {
  private readonly parts: GroupCommitParts;
  private queue: Waiting[] = [];
  private chars = 0;
  private underWay = false;
  private timer: NodeJS.Timeout | null = null;
  private ticks = 0;
  private idle: (() => void)[] = [];

  constructor(parts: GroupCommitParts) {
    this.parts = parts;
  }

  async write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    if (NEW_WORK.has(mutation.kind) && this.isOverloaded()) throw new StoreUnavailable(OVERLOADED);
    const change = encodeChange(mutation);
    const chars = change.reduce((sum: number, text) => sum + (text?.length ?? 0), 0);
    return new Promise((resolve, reject) => {
      this.queue.push({ kind: mutation.kind, change, chars, since: this.ticks, resolve, reject });
      this.chars += chars;
      if (!this.underWay) this.send();
      else this.startTicking();
    });
  }

  /** Resolves once nothing waits and nothing is under way. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.underWay) this.idle.push(resolve);
      else resolve();
    });
  }

  private isOverloaded(): boolean {
    if (this.chars > MAX_WAITING_CHARS) return true;
    const isBeyondNext = this.chars > GROUP_CHARS || this.queue.length >= GROUP_CHANGES;
    return isBeyondNext && this.ticks - (this.queue[0]?.since ?? this.ticks) >= LONG;
  }

  private send(): void {
    const group = this.next();
    if (group.length === 0) {
      for (const resolve of this.idle.splice(0)) resolve();
      return;
    }
    this.underWay = true;
    if (group.some(({ kind }) => !NEW_WORK.has(kind))) this.parts.beforeCommit?.();
    void this.commit(group);
  }

  private async commit(group: readonly Waiting[]): Promise<void> {
    let results: readonly CommitResult[];
    try {
      results = await this.parts.commit(group.map(({ change }) => change));
    } catch (error) {
      const message = messageOf(error);
      results = group.map(() => ({ kind: 'in_doubt', message }));
    }
    this.underWay = false;
    // The next transaction is sent before the results of this one are given.
    this.send();
    const failed = results.find(({ kind }) => kind === 'unavailable' || kind === 'in_doubt');
    if (failed !== undefined && 'message' in failed) this.parts.failed(failed.message);
    for (const [index, waiting] of group.entries()) settle(waiting, results[index]);
  }

  private next(): readonly Waiting[] {
    let [count, chars] = [0, 0];
    for (const waiting of this.queue) {
      if (count > 0 && (chars + waiting.chars > GROUP_CHARS || count >= GROUP_CHANGES)) break;
      chars += waiting.chars;
      count++;
    }
    this.chars -= chars;
    return this.queue.splice(0, count);
  }

  /** Behind a commit that does not end, senders that can retry must not wait. */
  private startTicking(): void {
    if (this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.ticks++;
      this.takeOut();
      if (this.queue.length > 0) this.startTicking();
    }, TICK_MS);
    this.timer.unref();
  }

  private takeOut(): void {
    const kept: Waiting[] = [];
    for (const waiting of this.queue.splice(0)) {
      if (this.ticks - waiting.since < TOO_LONG || !NEW_WORK.has(waiting.kind)) kept.push(waiting);
      else {
        this.chars -= waiting.chars;
        waiting.reject(new StoreUnavailable(OVERLOADED));
      }
    }
    this.queue = kept;
  }
}

function settle({ kind, resolve, reject }: Waiting, result: CommitResult | undefined): void {
  if (result?.kind === 'ok') resolve(result.value as never);
  else if (result?.kind === 'failed') reject(new Error(`cannot store ${kind}: ${result.message}`));
  else if (result?.kind === 'unavailable') reject(new StoreUnavailable(result.message));
  else reject(new StoreInDoubt(`nobody knows yet whether it is stored: ${result?.message ?? 'no answer'}`));
}
