/** Notices a wall clock that was set back, by the monotonic one. */
import type { Clock } from '../platform/clock.ts';

/** A clock that is set back by less is only adjusted, in ms. */
const LEAST_MS = 60_000;

export class ClockWatch {
  private readonly clock: Clock;
  /** Unix ms at which monotonic time began, by the wall clock as it was. */
  private origin: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.origin = clock.now() - clock.monotonic();
  }

  /** By how many ms the clock was set back since the last call; 0: it was not. */
  setBackBy(): number {
    const origin = this.clock.now() - this.clock.monotonic();
    const back = Math.round(this.origin - origin);
    if (back >= 0 && back < LEAST_MS) return 0;
    this.origin = origin;
    return Math.max(0, back);
  }
}
