/** Time under a test's control: nothing passes until `advance`, and then every due timer fires in order. */
import type { Clock, Timer } from '../../runtime/platform/clock.ts';

interface Pending {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

export class FakeClock implements Clock {
  private wall: number;
  private elapsed = 0;
  private order = 0;
  private readonly timers = new Set<Pending>();

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.wall = now;
  }

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.elapsed;
  }

  after(delayMs: number, fire: () => void): Timer {
    const timer: Pending = { at: this.elapsed + Math.max(0, delayMs), order: this.order++, fire };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.timers.size;
  }

  /** Ms until the next timer, or null. */
  get next(): number | null {
    const first = this.first();
    return first === undefined ? null : first.at - this.elapsed;
  }

  /** Lets `ms` pass; timers that fired timers due within it fire too. Synchronous: promises settle afterwards. */
  advance(ms: number): void {
    const until = this.elapsed + ms;
    for (let timer = this.first(); timer !== undefined && timer.at <= until; timer = this.first()) {
      this.pass(timer.at - this.elapsed);
      this.timers.delete(timer);
      timer.fire();
    }
    this.pass(until - this.elapsed);
  }

  /** Like `advance`, in steps from timer to timer, and lets promises settle after each. */
  async run(ms: number): Promise<void> {
    const until = this.elapsed + ms;
    await settle();
    for (let timer = this.first(); timer !== undefined && timer.at <= until; timer = this.first()) {
      this.advance(timer.at - this.elapsed);
      await settle();
    }
    this.pass(until - this.elapsed);
    await settle();
  }

  /** The wall clock jumps (NTP, suspend); monotonic time and timers do not. */
  jump(ms: number): void {
    this.wall += ms;
  }

  private pass(ms: number): void {
    this.elapsed += ms;
    this.wall += ms;
  }

  private first(): Pending | undefined {
    let first: Pending | undefined;
    for (const timer of this.timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  }
}

/** Lets every promise and immediate that is ready run. */
export async function settle(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
