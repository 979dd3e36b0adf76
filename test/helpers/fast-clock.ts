/** A clock from a chosen instant that can be made to run fast, for tests of a whole gateway that cannot wait for cron. */
import type { Clock, Timer } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';

export class FastClock implements Clock {
  private base: number;
  private since = performance.now();
  private speed = 1;
  /** Pending timers, which a change of the speed sets again. */
  private readonly pending = new Set<{ readonly due: number; readonly fire: () => void; timer: Timer }>();

  /** @param from Simulated unix ms of now. */
  constructor(from: number) {
    this.base = from;
  }

  /** From now on, this many simulated ms pass in one. */
  rush(speed: number): void {
    this.base += (performance.now() - this.since) * this.speed;
    this.since = performance.now();
    this.speed = speed;
    for (const each of this.pending) {
      each.timer.cancel();
      each.timer = systemClock.after((each.due - this.now()) / speed, each.fire);
    }
  }

  now(): number {
    return Math.floor(this.base + (performance.now() - this.since) * this.speed);
  }

  monotonic(): number {
    return this.now();
  }

  after(ms: number, fire: () => void): Timer {
    const ring = (): void => {
      this.pending.delete(each);
      fire();
    };
    const each = { due: this.now() + ms, fire: ring, timer: systemClock.after(ms / this.speed, ring) };
    this.pending.add(each);
    return {
      cancel: () => {
        this.pending.delete(each);
        each.timer.cancel();
      },
    };
  }
}
