/**
 * Pulls what is due from the store and gives it to the workers, for as long as they have room.
 *
 *   woken ──> recover (first, and after the clock went back) ──> take_work ──> workers ──> what has ended wakes it
 *
 * It is woken when something was accepted, has ended, or falls due. Its changes are written beside those of what woke it,
 * so that they share a commit. Nothing is known here that the store does not know: after a crash the first turn goes on.
 */
import type { Timer } from '../clock.ts';
import type { Holder, TakenAttempt, TakenRun, TakenWork } from '../store/mutations.ts';
import { ClockWatch } from './clock-watch.ts';
import type { DispatchContext } from './context.ts';
import { MAX_PER_TARGET } from './delivery-worker.ts';
import { Stopped } from './persist.ts';
import type { QueueCount } from './queue-count.ts';
import type { StoreGate } from './store-gate.ts';

/** Performs one kind of work. */
export interface Worker<Taken> {
  /** How much may be started now. */
  readonly room: number;
  readonly active: number;
  start(taken: Taken): Promise<void>;
  /** Gives back what was taken and is not to begin. */
  putBack(taken: Taken): Promise<void>;
}

export interface WorkLoopParts {
  readonly context: DispatchContext;
  readonly holder: Holder;
  readonly gate: StoreGate;
  readonly queue: QueueCount;
  readonly runs: Worker<TakenRun>;
  readonly deliveries: Worker<TakenAttempt>;
  /** It has got somewhere: a stop that waits looks again. */
  readonly changed: () => void;
}

/** Longest sleep, in ms: a clock that was set is noticed by then. */
const MAX_SLEEP_MS = 60_000;
/** When it tries again after the store took nothing, or a fault of this program, in ms. */
const RETRY_MS = 1000;
const FAULT_MS = 5000;

export class WorkLoop {
  private readonly parts: WorkLoopParts;
  private readonly watch: ClockWatch;
  private readonly recovered: Promise<number>;
  private onRecovered: (count: number) => void = () => {};
  private isRecovered = false;
  private timer: Timer | null = null;
  /** Unix ms for which the timer is set. */
  private wakesAt = Number.POSITIVE_INFINITY;
  private isWoken = false;
  private turning = false;
  private closed = false;
  /** The last taking found nothing, and nothing has happened since. */
  private exhausted = false;

  constructor(parts: WorkLoopParts) {
    this.parts = parts;
    this.watch = new ClockWatch(parts.context.clock);
    this.recovered = new Promise((resolve) => {
      this.onRecovered = resolve;
    });
  }

  /** Begins; resolves with the number of runs and attempts that processes which are gone had under way. */
  start(): Promise<number> {
    this.wake();
    return this.recovered;
  }

  /** Nothing is due and nothing under way. */
  get isIdle(): boolean {
    const { runs, deliveries } = this.parts;
    return this.exhausted && runs.active === 0 && deliveries.active === 0;
  }

  /** It takes something, or gives back what it has taken. */
  get isTurning(): boolean {
    return this.turning;
  }

  /** There may be work. What was written before is taken. */
  wake(): void {
    this.exhausted = false;
    if (this.isWoken || this.closed) return;
    this.isWoken = true;
    if (!this.turning) queueMicrotask(() => void this.turn());
  }

  /** Something falls due. @param at unix ms */
  wakeAt(at: number): void {
    if (at >= this.wakesAt || this.closed) return;
    const { clock } = this.parts.context;
    const now = clock.now();
    const delay = Math.min(Math.max(0, at - now), MAX_SLEEP_MS);
    this.timer?.cancel();
    this.wakesAt = now + delay;
    this.timer = clock.after(delay, () => {
      this.wakesAt = Number.POSITIVE_INFINITY;
      this.wake();
    });
  }

  /** Takes nothing more. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
  }

  private async turn(): Promise<void> {
    if (this.turning) return;
    this.turning = true;
    while (this.isWoken && !this.closed) {
      this.isWoken = false;
      await this.pull().catch((error: unknown) => this.complain(error));
    }
    this.turning = false;
    this.parts.changed();
  }

  private complain(error: unknown): void {
    if (error instanceof Stopped) return;
    const { log, clock } = this.parts.context;
    log.error({ err: error }, 'work could not be taken, trying again');
    this.wakeAt(clock.now() + FAULT_MS);
  }

  private async pull(): Promise<void> {
    const { context, holder, gate, queue, runs, deliveries } = this.parts;
    const { store, clock } = context;
    if (!(await this.recover())) return this.wakeAt(clock.now() + RETRY_MS);
    const room = { runs: runs.room, attempts: deliveries.room };
    if (room.runs === 0 && room.attempts === 0) return;
    const counted = queue.take();
    const limits = { ...room, attempts_per_target: MAX_PER_TARGET };
    const taken = await gate.pass(() => store.write({ kind: 'take_work', holder, now: clock.now(), ...limits }));
    if ('kind' in taken) return this.wakeAt(clock.now() + RETRY_MS);
    context.observer?.reached?.('work.taken');
    counted(taken.waiting);
    if (this.closed) return this.putBack(taken);
    if (taken.next_due_at !== null) this.wakeAt(taken.next_due_at);
    this.exhausted = !this.isWoken && taken.runs.length + taken.attempts.length === 0;
    for (const attempt of taken.attempts) void deliveries.start(attempt);
    for (const run of taken.runs) void runs.start(run);
  }

  /** It was closed while the store took it: it is due for the next process. */
  private async putBack(taken: TakenWork): Promise<void> {
    const { runs, deliveries } = this.parts;
    await Promise.all([
      ...taken.runs.map((run) => runs.putBack(run)),
      ...taken.attempts.map((attempt) => deliveries.putBack(attempt)),
    ]);
  }

  /** False: the store takes nothing now. */
  private async recover(): Promise<boolean> {
    const { context, holder, gate } = this.parts;
    const { log, clock, store, observer } = context;
    const back_ms = this.watch.wentBack();
    if (back_ms > 0) {
      log.warn({ back_ms }, 'the clock was set back: what waits goes by the new time');
      this.isRecovered = false;
    }
    if (this.isRecovered) return true;
    const recovered = await gate.pass(() => store.write({ kind: 'recover', holder, now: clock.now() }));
    if ('kind' in recovered) return false;
    const { runs, attempts, given_up } = recovered;
    this.isRecovered = true;
    this.onRecovered(runs + attempts);
    if (runs + attempts > 0) log.info({ runs, deliveries: attempts }, 'taken up again after the last stop');
    for (const owner of given_up) {
      const { id, route, reason } = owner;
      log.error({ dispatch: id, route, reason }, 'given up');
      observer?.finished?.(owner, 'dead', reason);
    }
    return true;
  }
}
