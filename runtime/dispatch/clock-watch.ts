/** Detects that the wall clock was set back, by comparing it with the monotonic clock. */
import type { Clock } from '../platform/clock.ts';

/** Smaller steps back, in ms, are ordinary adjustments. */
const LEAST_MS = 60_000;

export class ClockWatch {
  private readonly clock: Clock;
  /** Unix ms at which monotonic time began, by the wall clock at the last call. */
  private origin: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.origin = clock.now() - clock.monotonic();
  }

  /** By how many ms the clock was set back since the last call; 0 when it was not. */
  setBackBy(): number {
    const origin = this.clock.now() - this.clock.monotonic();
    const back = Math.round(this.origin - origin);
    if (back >= 0 && back < LEAST_MS) return 0;
    this.origin = origin;
    return Math.max(0, back);
  }
}
