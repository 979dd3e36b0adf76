/**
 * Group commit: changes that arrive while a commit is under way form the next transaction, which is sent as soon as the
 * result of that commit arrives. Nothing waits for a timer.
 *
 * When the disk is too slow, the queue is bounded in bytes and in time: an event that has waited too long is removed from
 * it. Changes that record what has already happened are never rejected.
 *
 * Waits are counted in ticks instead of by the clock: after the event loop was blocked, pending results must be handled
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
  /** Called before a group that records what has already happened. */
  readonly beforeCommit: (() => void) | undefined;
  /** Called when a group was not stored. */
  readonly failed: (problem: string) => void;
}

interface Waiting {
  readonly kind: MutationKind;
  readonly change: EncodedChange;
  readonly chars: number;
  /** Tick at which it arrived. */
  readonly since: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Changes that add new work, whose senders can retry. */
export const NEW_WORK: ReadonlySet<MutationKind> = new Set(['accept', 'join_group', 'fire_job']);
const TICK_MS = 100;
/** Age at which new work is removed, in ticks: an answer within a second says 503, or that the event is stored. */
const TOO_LONG = 8;
/** Most text that may wait, in UTF-16 units; most text and most changes of one group. */
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

  /** Resolves once the change is committed. Rejects with StoreUnavailable or StoreInDoubt, or an Error for a bad change. */
  async write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    if (NEW_WORK.has(mutation.kind) && this.chars > MAX_WAITING_CHARS) throw new StoreUnavailable(OVERLOADED);
    const change = encodeChange(mutation);
    const chars = change.reduce((sum: number, text) => sum + (text?.length ?? 0), 0);
    return new Promise((resolve, reject) => {
      this.queue.push({ kind: mutation.kind, change, chars, since: this.ticks, resolve, reject });
      this.chars += chars;
      if (this.underWay) this.startTicking();
      else if (NEW_WORK.has(mutation.kind)) this.send();
      else this.sendSoon();
    });
  }

  /** Resolves once the queue is empty and no commit is under way. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.underWay) this.idle.push(resolve);
      else resolve();
    });
  }

  /** In two microtasks: the work loop, which the end of a run wakes in one, shares its commit. No sender waits for it. */
  private sendSoon(): void {
    this.underWay = true;
    queueMicrotask(() => queueMicrotask(() => this.send()));
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
    // Send the next transaction before handling the results of this one.
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

  /** Ticks while changes wait, so that new work does not wait behind a commit that hangs. */
  private startTicking(): void {
    if (this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.ticks++;
      this.removeLate();
      if (this.queue.length > 0) this.startTicking();
    }, TICK_MS);
    this.timer.unref();
  }

  private removeLate(): void {
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
  else reject(new StoreInDoubt(`it is not known yet whether this was stored: ${result?.message ?? 'no answer'}`));
}
