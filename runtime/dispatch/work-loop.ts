/**
 * Takes due work from the store and hands it to the workers while they have room.
 *
 *   wake ──> recover (at the start, and when needed) ──> take_work ──> workers ──> wake when work ends
 *
 * The states of a dispatch; the store checks each change against them (`runtime/store/states.ts`):
 *
 *      event, job ──> pending ──────> running ──────> delivering ──> done
 *                      ^   │           │   │            ^     └────> dead
 *                      │   └─> skipped │   └─> done,    │
 *                      └───────────────┘       skipped, └── direct delivery
 *                                              dead
 *
 *   from         to           when                                                          by
 *   (none)       pending      an event is accepted, a job fires                             create-dispatcher, scheduler
 *   (none)       delivering   an event is accepted that needs no agent                       create-dispatcher, direct-delivery
 *   pending      skipped      a later event of its coalesce group or session replaces it    the store
 *   pending      running      it is due and there is room                                   this loop (take_work)
 *   running      pending      the run failed and is repeated, or was interrupted            run-worker; this loop (recover)
 *   running      delivering   the agent has answered                                        run-worker
 *   running      done         the answer was delivered within this process                  run-worker
 *   running      skipped      the agent has nothing to deliver                              run-worker
 *   running      skipped      a newer event of its session replaces it                      the store
 *   running      dead         no attempt is left, or nothing can be delivered               run-worker
 *   delivering   done         every delivery has succeeded                                  delivery-worker, direct-delivery
 *   delivering   dead         every delivery has ended, one of them permanently failed       delivery-worker, direct-delivery
 *   delivering   dead         its process ended while the sender waited                     this loop (recover)
 *
 * The loop wakes when work was accepted, has ended, or falls due. It writes in the same turn of the event loop as the
 * change that woke it, so that both share a commit. All state is in the store, so after a crash the first turn resumes
 * the work.
 */
import type { Clock, Timer } from '../platform/clock.ts';
import type { TakenAttempt, TakenRun, TakenWork } from '../store/contract.ts';
import type { Holder } from '../store/records.ts';
import type { DispatchContext } from './context.ts';
import { MAX_PER_TARGET } from './delivery-worker.ts';
import { orRefused } from './dispatcher.ts';
import type { Worker } from './worker.ts';

interface WorkLoopParts {
  readonly context: DispatchContext;
  readonly holder: Holder;
  readonly runs: Worker<TakenRun>;
  readonly deliveries: Worker<TakenAttempt>;
  /** Called after each turn, so that a waiting stop checks again. */
  readonly changed: () => void;
}

/** Maximum number of runs that one turn takes, which bounds the commit that a new event shares with them. */
const MAX_RUNS = 64;
/** Longest sleep, in ms, so that a change of the clock is noticed. */
const MAX_SLEEP_MS = 60_000;
/** Wait before the next turn after the store was unavailable, or after an unexpected error, in ms. */
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
  /** True if the last `take_work` returned nothing, and nothing has happened since. */
  private isExhausted = false;
  /** Dispatches that wait for a run: as of the last `take_work`, and those written since. */
  private waiting = 0;
  private arrived = 0;

  constructor(parts: WorkLoopParts) {
    this.parts = parts;
    this.clockWatch = new ClockWatch(parts.context.clock);
  }

  /** Starts the loop; resolves with the number of runs and attempts that earlier processes left unfinished. */
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

  /** Number of dispatches that wait for a run, approximately. */
  get queued(): number {
    return this.waiting + Math.max(0, this.arrived);
  }

  /** True if nothing is due or running. */
  get isIdle(): boolean {
    return this.isExhausted && !this.isBusy;
  }

  get isBusy(): boolean {
    return this.isTurning || this.parts.runs.underWay.size + this.parts.deliveries.underWay.size > 0;
  }

  /** Counts a dispatch that is being stored and will wait for a run; -1 when it was not stored after all. */
  arrive(count: 1 | -1): void {
    this.arrived += count;
    if (count === 1 && this.parts.runs.room > 0) this.wake();
  }

  /** Starts a turn, which takes work that was written before this call. */
  wake(): void {
    this.isExhausted = false;
    if (this.isWoken || this.isClosed) return;
    this.isWoken = true;
    if (!this.isTurning) queueMicrotask(() => void this.turn());
  }

  /** Wakes the loop when work falls due. @param at Unix ms */
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
        log.error({ err: error }, 'could not take work from the store; will retry');
        return false;
      });
      if (!isDone) this.wakeAt(clock.now() + RETRY_MS);
    }
    this.isTurning = false;
    this.parts.changed();
  }

  /** Returns false when the store is unavailable. */
  private async pull(): Promise<boolean> {
    const { context, holder, runs, deliveries } = this.parts;
    const { store, clock, observer } = context;
    this.watchClock();
    if (this.needsRecovery && !(await this.recover())) return false;
    const room = { runs: Math.min(runs.room, MAX_RUNS), attempts: deliveries.room };
    if (room.runs === 0 && room.attempts === 0) return true;
    const { arrived } = this;
    const limited = context.agent_limits?.() ?? [];
    const agents = limited.length === 0 ? {} : { agents: limited };
    const limits = { ...room, attempts_per_target: MAX_PER_TARGET, ...agents };
    // If the write fails, the store may have handed out work that no worker has.
    this.needsRecovery = true;
    const taken = await orRefused(store.write({ kind: 'take_work', holder, now: clock.now(), ...limits }));
    if ('kind' in taken) return false;
    this.needsRecovery = false;
    observer?.reached?.('work.taken');
    // Changes take effect in order, so `waiting` includes the dispatches written before this one.
    this.arrived -= arrived;
    this.waiting = taken.waiting;
    if (taken.next_due_at !== null) this.wakeAt(taken.next_due_at);
    this.isExhausted = !this.isWoken && taken.runs.length + taken.attempts.length === 0;
    await this.startTaken(taken);
    if (taken.runs.length === MAX_RUNS) this.wake();
    return true;
  }

  private async startTaken({ runs, attempts }: TakenWork): Promise<void> {
    const { parts } = this;
    // The loop was closed in the meantime: return the work for the next process.
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
    this.parts.context.log.warn({ back_ms }, 'system clock moved back; rescheduled pending work');
    this.needsRecovery = true;
  }

  /** Returns false when the store is unavailable. */
  private async recover(): Promise<boolean> {
    const { context, holder, runs: runWorker, deliveries } = this.parts;
    const { log, clock, store, observer } = context;
    const under_way = { runs: [...runWorker.underWay].map(({ ref }) => ref), attempts: [...deliveries.underWay] };
    const recovered = await orRefused(store.write({ kind: 'recover', holder, now: clock.now(), under_way }));
    if ('kind' in recovered) return false;
    const { runs, attempts, given_up } = recovered;
    this.needsRecovery = false;
    this.onRecovered(runs + attempts);
    if (runs + attempts > 0) log.info({ runs, deliveries: attempts }, 'resuming interrupted work');
    for (const owner of given_up) {
      const { id, route, reason } = owner;
      log.error({ dispatch: id, route, reason }, 'delivery failed permanently: its gateway stopped');
      observer?.finished?.(owner, 'dead', reason, null);
    }
    return true;
  }
}

/** Smaller steps back, in ms, are ordinary adjustments. */
const LEAST_MS = 60_000;

/** Detects that the system clock moved back, by comparing it with the monotonic clock. */
class ClockWatch {
  private readonly clock: Clock;
  /** Unix ms at which monotonic time began, by the wall clock at the last call. */
  private origin: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.origin = clock.now() - clock.monotonic();
  }

  /** The number of ms by which the clock moved back since the last call; 0 if it did not. */
  setBackBy(): number {
    const origin = this.clock.now() - this.clock.monotonic();
    const back = Math.round(this.origin - origin);
    if (back >= 0 && back < LEAST_MS) return 0;
    this.origin = origin;
    return Math.max(0, back);
  }
}
