/**
 * Group commit: changes that arrive during a commit form the next transaction, which is sent as soon as the result of
 * that commit arrives. Nothing waits for a timer.
 *
 * When the disk is too slow, the queue is bounded in bytes and in time: an event that has waited too long is removed.
 * Changes that record what has already happened are never rejected.
 *
 * Waits are counted in ticks instead of by the clock: after the event loop was blocked, pending results must be handled
 * first.
 */

import { messageOf } from '../../base/errors.ts';
import { targetLabel } from '../../base/text.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Logger } from '../platform/log.ts';
import type { Mutation, MutationKind, MutationResults, StoreProblem, WrittenAs } from './contract.ts';
import { StoreInDoubt, StoreUnavailable } from './contract.ts';
import type { Head } from './listed-rows.ts';
import { laneParts, turnKey } from './records.ts';

interface GroupCommitParts {
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
  /** Tick at which new work is removed from the queue. */
  readonly until: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Changes that add new work, whose senders can retry. */
export const NEW_WORK: ReadonlySet<MutationKind> = new Set(['accept', 'join_group', 'fire_job']);
const TICK_MS = 100;
/** How long new work waits unless its sender is known to wait longer, in ms. */
const WAIT_MS = 2500;
/** Maximum text in the queue, in UTF-16 units; maximum text and maximum changes of one group. */
const MAX_WAITING_CHARS = 32 * 1024 * 1024;
const GROUP_CHARS = 4 * 1024 * 1024;
const GROUP_CHANGES = 1000;

const OVERLOADED = 'store is too slow: retry later';

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
  async write<M extends Mutation>(mutation: M, as: WrittenAs = {}): Promise<MutationResults[M['kind']]> {
    const { kind } = mutation;
    const { together, wait_ms = WAIT_MS } = as;
    if (NEW_WORK.has(kind) && this.chars > MAX_WAITING_CHARS) throw new StoreUnavailable(OVERLOADED);
    const [text, body, answer] = encodeChange(mutation);
    const chars = text.length + (body?.length ?? 0) + (answer?.length ?? 0);
    return new Promise((resolve, reject) => {
      const isShared = together?.isOpen === true;
      const change: EncodedChange = isShared ? [text, body, answer, together.id] : [text, body, answer];
      const push = (): void => {
        this.queue.push({ kind, change, chars, until: this.ticks + wait_ms / TICK_MS, resolve, reject });
        this.chars += chars;
      };
      const refuse = (): void => reject(new StoreUnavailable('another event of the request was refused'));
      if (isShared) together.add({ push, refuse }, () => this.begin(true));
      else {
        push();
        this.begin(NEW_WORK.has(kind));
      }
    });
  }

  private begin(isNewWork: boolean): void {
    if (this.underWay) this.startTicking();
    else if (isNewWork) this.send();
    else this.sendSoon();
  }

  /** Resolves once the queue is empty and no commit is running. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.underWay) this.idle.push(resolve);
      else resolve();
    });
  }

  /**
   * In two microtasks, so that the work loop, which wakes one microtask after a run ends, shares its commit. No sender
   * waits.
   */
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
      const isFull = chars + waiting.chars > GROUP_CHARS || count >= GROUP_CHANGES;
      const before = this.queue[count - 1]?.change[3];
      if (count > 0 && isFull && (before === undefined || before !== waiting.change[3])) break;
      chars += waiting.chars;
      count++;
    }
    this.chars -= chars;
    return this.queue.splice(0, count);
  }

  /** Ticks while changes wait, so that new work does not wait behind a hanging commit. */
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
      if (this.ticks < waiting.until || !NEW_WORK.has(waiting.kind)) kept.push(waiting);
      else {
        this.chars -= waiting.chars;
        waiting.reject(new StoreUnavailable(OVERLOADED));
      }
    }
    this.queue = kept;
  }
}

/** The indexes of the changes that are stored together with the one at `index`, which follow one another. */
export function togetherWith(changes: readonly EncodedChange[], index: number): readonly number[] {
  const id = changes[index]?.[3];
  if (id === undefined) return [index];
  return changes.flatMap((change, at) => (change[3] === id ? [at] : []));
}

function settle({ kind, resolve, reject }: Waiting, result: CommitResult | undefined): void {
  if (result?.kind === 'ok') resolve(result.value as never);
  else if (result?.kind === 'failed') reject(new Error(`cannot store ${kind}: ${result.message}`));
  else if (result?.kind === 'unavailable') reject(new StoreUnavailable(result.message));
  else reject(new StoreInDoubt(`it is unknown whether the change was stored: ${result?.message ?? 'no answer'}`));
}

/*
 * Encodes changes for an engine: a small JSON text for each change and, separately, its large texts in the form in
 * which the tables store them. So a body is serialized only once and never parsed in between.
 */

/** The fields of a dispatch that have columns; the rest is in its body. */
export type DispatchHead = Pick<
  Dispatch,
  'id' | 'profile' | 'route' | 'job' | 'mode' | 'event' | 'delivery_id' | 'accepted_at' | 'replay_of'
> & {
  readonly agent: string | null;
  /** True for an event of a burst that keeps all its events. */
  readonly burst: boolean;
  /** See `turnKey`. */
  readonly turn_key: string | null;
  readonly on_newer?: Dispatch['on_newer'];
  readonly targets: readonly HeadTarget[];
  /** Names of the targets that it may send to, also by outputs, for lists. */
  readonly sends_to: string;
};

/** The target of a delivery, with its configured name, and how long it waits for approval. */
export type HeadTarget = Pick<Dispatch['deliveries'][number], 'target' | 'label' | 'approve_ms'>;

/** A change whose dispatch is reduced to the head. */
export type Headed<M> = M extends { readonly dispatch: Dispatch | null }
  ? Omit<M, 'dispatch'> & { readonly dispatch: DispatchHead | Extract<M['dispatch'], null> }
  : M extends { readonly kind: 'advance' }
    ? Omit<M, 'dispatch'> & { readonly dispatch?: DispatchHead }
    : M;

/** The large texts of a change, as JSON. */
export interface LargeTexts {
  readonly body: string | null;
  readonly answer: string | null;
}

/** The JSON of the headed change, the body and the answer. Changes with the same number are all stored, or none of them is. */
export type EncodedChange = readonly [change: string, body: string | null, answer: string | null, together?: number];

export type CommitResult =
  | { readonly kind: 'ok'; readonly value: MutationResults[MutationKind] }
  /**
   * `unavailable`: the medium failed; a retry may succeed. `failed`: this change can never be stored. `in_doubt`: the
   * medium failed during the commit, and still fails.
   */
  | { readonly kind: 'unavailable' | 'in_doubt' | 'failed'; readonly message: string };

export function encodeChange(mutation: Mutation): EncodedChange {
  const dispatch = 'dispatch' in mutation ? (mutation.dispatch ?? null) : null;
  const answer = answerOf(mutation);
  const small = {
    ...mutation,
    ...(dispatch === null ? {} : { dispatch: headOf(dispatch) }),
    ...(mutation.kind === 'advance' && answer !== null ? { answer: '' } : {}),
    ...(mutation.kind === 'accept' && answer !== null ? { work: { ...mutation.work, answer: '' } } : {}),
  };
  return [
    JSON.stringify(small),
    dispatch === null ? null : JSON.stringify(dispatch),
    answer === null ? null : JSON.stringify(answer),
  ];
}

/** Decodes a change, without its large texts. */
export const decodeChange = ([change]: EncodedChange): Headed<Mutation> => JSON.parse(change) as Headed<Mutation>;

export function headOf(dispatch: Dispatch): DispatchHead {
  const { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of, agent = null } = dispatch;
  const targets = headTargets(dispatch);
  const all = [...dispatch.deliveries, ...(dispatch.outputs ?? []).map(({ delivery }) => delivery)];
  const sends_to = [...new Set(all.map(targetLabel))].join(', ');
  const newer = dispatch.on_newer === undefined ? {} : { on_newer: dispatch.on_newer };
  const of = { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of, agent };
  return { ...of, burst: dispatch.burst != null, turn_key: turnKey(dispatch), targets, sends_to, ...newer };
}

/** The JSON of the columns that lists show, besides those of the row. */
export function headText(head: DispatchHead, superseded: number): string {
  const { event, delivery_id, replay_of, agent, turn_key, sends_to } = head;
  const session = turn_key === null ? null : laneParts(turn_key).name;
  return JSON.stringify([event, delivery_id, replay_of, superseded, agent, session, sends_to] satisfies Head);
}

export const headTargets = ({ deliveries }: Dispatch): readonly HeadTarget[] =>
  deliveries.map(({ target, label, approve_ms }) => ({
    target,
    ...(label === undefined ? {} : { label }),
    ...(approve_ms === undefined ? {} : { approve_ms }),
  }));

function answerOf(mutation: Mutation): string | null {
  if (mutation.kind === 'advance') return mutation.answer ?? null;
  if (mutation.kind === 'accept' && mutation.work.kind === 'deliveries') return mutation.work.answer;
  return null;
}

/** Problems that replace another one, because they last. */
const LASTING: ReadonlySet<StoreProblem['kind']> = new Set(['replaced', 'ended']);

/** Records why the store cannot write, and since when. Logs the start and the end of each problem. */
export class Health {
  private readonly log: Logger;
  private readonly now: () => number;
  private current: StoreProblem | null = null;

  /** @param now returns Unix ms */
  constructor(log: Logger, now: () => number) {
    this.log = log;
    this.now = now;
  }

  get problem(): StoreProblem | null {
    return this.current;
  }

  begin(kind: StoreProblem['kind'], message: string): void {
    if (this.current !== null && (this.current.kind === 'ended' || this.current.kind === kind || !LASTING.has(kind)))
      return;
    this.current = { kind, message, since: this.now() };
    this.log.error({ reason: message }, 'the store rejects changes');
  }

  end(kind: StoreProblem['kind']): void {
    if (this.current?.kind !== kind) return;
    this.log.info({ after_ms: this.now() - this.current.since }, 'the store accepts changes again');
    this.current = null;
  }
}
