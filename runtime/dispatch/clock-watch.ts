/** Notices a clock that was set back: due times are instants, and what waits for one would wait too long. */
import type { Clock } from '../clock.ts';

/** Less is the ordinary adjustment of a clock, in ms. */
const MINUTE_MS = 60_000;

export class ClockWatch {
  private readonly clock: Clock;
  /** Unix ms at which monotonic time began, by the clock as it was. */
  private origin: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.origin = clock.now() - clock.monotonic();
  }

  /** Ms by which the clock has gone back since it was last asked; 0 when by less than a minute. */
  wentBack(): number {
    const origin = this.clock.now() - this.clock.monotonic();
    const back = this.origin - origin;
    if (back >= 0 && back < MINUTE_MS) return 0;
    this.origin = origin;
    return Math.max(0, Math.round(back));
  }
}
