/**
 * Pulls what is due from the store and gives it to the workers, for as long as they have room.
 *
 *   woken ──> recover (first, and where needed) ──> take_work ──> workers ──> what has ended wakes it
 *
 * It is woken when something was accepted, has ended, or falls due. Its changes are written beside those of what woke it,
 * so that they share a commit. It has no state that is not in the store: after a crash the first turn resumes.
 */
import type { Timer } from '../platform/clock.ts';
import type { Holder, TakenAttempt, TakenRun, TakenWork } from '../store/mutations.ts';
import { ClockWatch } from './clock-watch.ts';
import type { DispatchContext } from './context.ts';
import { MAX_PER_TARGET } from './delivery-worker.ts';
import { orRefused } from './or-refused.ts';
import type { Worker } from './worker.ts';

export interface WorkLoopParts {
  readonly context: DispatchContext;
  readonly holder: Holder;
  readonly runs: Worker<TakenRun>;
  readonly deliveries: Worker<TakenAttempt>;
  /** It has ended a turn: a stop that waits looks again. */
  readonly changed: () => void;
}

/** Most runs that one turn takes: an event that arrives while thousands wait shares its commit with no more of them. */
const MAX_RUNS = 64;
/** Longest sleep, in ms, so that a change of the clock is noticed. */
const MAX_SLEEP_MS = 60_000;
/** When it tries again after the store took nothing, or a fault of this program, in ms. */
const RETRY_MS = 1000;

export class WorkLoop {
  private readonly parts: WorkLoopParts;
  private onRecovered: (count: number) => void = () => {};
  private needsRecovery = true;
  private readonly clockWatch: ClockWatch;
  private timer: Timer | null = null;
  /** Unix ms for which the timer is set. */
  private wakesAt = Number.POSITIVE_INFINITY;
  private isWoken = false;
  private isTurning = false;
  private isClosed = false;
  /** The last taking found nothing, and nothing has happened since. */
  private isExhausted = false;
  /** Dispatches that wait for a run: left behind by the last taking, and written since. */
  private waiting = 0;
  private arrived = 0;

  constructor(parts: WorkLoopParts) {
    this.parts = parts;
    this.clockWatch = new ClockWatch(parts.context.clock);
  }

  /** Starts the loop; resolves with the number of runs and attempts that dead processes had under way. */
  start(): Promise<number> {
    this.parts.context.store.shared?.watch((change) => {
      if (change === 'left') this.needsRecovery = true;
      this.wake();
    });
    this.wake();
    return new Promise((resolve) => {
      this.onRecovered = resolve;
    });
  }

  /** Dispatches that wait for a run, as far as is known. */
  get queued(): number {
    return this.waiting + Math.max(0, this.arrived);
  }

  /** Nothing is due and nothing under way. */
  get isIdle(): boolean {
    return this.isExhausted && !this.isBusy;
  }

  get isBusy(): boolean {
    return this.isTurning || this.parts.runs.underWay.size + this.parts.deliveries.underWay.size > 0;
  }

  /** A dispatch is being stored that waits for a run; -1: it was not. */
  arrive(count: 1 | -1): void {
    this.arrived += count;
    if (count === 1 && this.parts.runs.room > 0) this.wake();
  }

  /** There may be work: what was written before this call is taken. */
  wake(): void {
    this.isExhausted = false;
    if (this.isWoken || this.isClosed) return;
    this.isWoken = true;
    if (!this.isTurning) queueMicrotask(() => void this.turn());
  }

  /** Something falls due. @param at unix ms */
  wakeAt(at: number): void {
    if (at >= this.wakesAt || this.isClosed) return;
    const { clock } = this.parts.context;
    const delay = Math.min(Math.max(0, at - clock.now()), MAX_SLEEP_MS);
    this.timer?.cancel();
    this.wakesAt = clock.now() + delay;
    this.timer = clock.after(delay, () => {
      this.wakesAt = Number.POSITIVE_INFINITY;
      this.wake();
    });
  }

  /** Stops taking work. */
  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
  }

  private async turn(): Promise<void> {
    if (this.isTurning) return;
    this.isTurning = true;
    const { log, clock } = this.parts.context;
    while (this.isWoken && !this.isClosed) {
      this.isWoken = false;
      const isDone = await this.pull().catch((error: unknown) => {
        log.error({ err: error }, 'work could not be taken, trying again');
        return false;
      });
      if (!isDone) this.wakeAt(clock.now() + RETRY_MS);
    }
    this.isTurning = false;
    this.parts.changed();
  }

  /** False: the store takes nothing now. */
  private async pull(): Promise<boolean> {
    const { context, holder, runs, deliveries } = this.parts;
    const { store, clock, observer } = context;
    this.watchClock();
    if (this.needsRecovery && !(await this.recover())) return false;
    const room = { runs: Math.min(runs.room, MAX_RUNS), attempts: deliveries.room };
    if (room.runs === 0 && room.attempts === 0) return true;
    const { arrived } = this;
    const limits = { ...room, attempts_per_target: MAX_PER_TARGET };
    // Without a result, it may have taken work that no worker knows about.
    this.needsRecovery = true;
    const taken = await orRefused(store.write({ kind: 'take_work', holder, now: clock.now(), ...limits }));
    if ('kind' in taken) return false;
    this.needsRecovery = false;
    observer?.reached?.('work.taken');
    // Changes take effect in order: what was written before is counted.
    this.arrived -= arrived;
    this.waiting = taken.waiting;
    if (taken.next_due_at !== null) this.wakeAt(taken.next_due_at);
    this.isExhausted = !this.isWoken && taken.runs.length + taken.attempts.length === 0;
    await this.giveOut(taken);
    if (taken.runs.length === MAX_RUNS) this.wake();
    return true;
  }

  private async giveOut({ runs, attempts }: TakenWork): Promise<void> {
    const { parts } = this;
    // Closed meanwhile: it is due for the next process.
    if (this.isClosed) {
      await Promise.all([
        ...runs.map((run) => parts.runs.putBack(run)),
        ...attempts.map((one) => parts.deliveries.putBack(one)),
      ]);
      return;
    }
    for (const attempt of attempts) void parts.deliveries.start(attempt);
    for (const run of runs) void parts.runs.start(run);
  }

  private watchClock(): void {
    const back_ms = this.clockWatch.setBackBy();
    if (back_ms === 0) return;
    this.parts.context.log.warn({ back_ms }, 'the clock was set back: what waits goes by the new time');
    this.needsRecovery = true;
  }

  /** False: the store takes nothing now. */
  private async recover(): Promise<boolean> {
    const { context, holder, runs: runWorker, deliveries } = this.parts;
    const { log, clock, store, observer } = context;
    const under_way = { runs: [...runWorker.underWay].map(({ ref }) => ref), attempts: [...deliveries.underWay] };
    const recovered = await orRefused(store.write({ kind: 'recover', holder, now: clock.now(), under_way }));
    if ('kind' in recovered) return false;
    const { runs, attempts, given_up } = recovered;
    this.needsRecovery = false;
    this.onRecovered(runs + attempts);
    if (runs + attempts > 0) log.info({ runs, deliveries: attempts }, 'interrupted work is taken up again');
    for (const owner of given_up) {
      const { id, route, reason } = owner;
      log.error({ dispatch: id, route, reason }, 'given up');
      observer?.finished?.(owner, 'dead', reason);
    }
    return true;
  }
}
