/** A clock from a chosen instant that can be made to run fast, for tests of a whole gateway that cannot wait for cron. */
import type { Clock, Timer } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';

export class FastClock implements Clock {
  private base: number;
  private since = performance.now();
  private speed = 1;

  /** @param from Simulated unix ms of now. */
  constructor(from: number) {
    this.base = from;
  }

  /** From now on, this many simulated ms pass in one. */
  rush(speed: number): void {
    this.base += (performance.now() - this.since) * this.speed;
    this.since = performance.now();
    this.speed = speed;
  }

  now(): number {
    return Math.floor(this.base + (performance.now() - this.since) * this.speed);
  }

  monotonic(): number {
    return this.now();
  }

  after(ms: number, fire: () => void): Timer {
    return systemClock.after(ms / this.speed, fire);
  }
}
