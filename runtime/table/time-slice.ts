/** Divides long work on the event loop into short slices, so that requests can be served between them. */
import type { Clock } from '../platform/clock.ts';

/** Longest slice, in ms. */
const SLICE_MS = 3;

export class TimeSlice {
  private readonly clock: Clock;
  private since: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.since = clock.monotonic();
  }

  /** Whether the slice has used up its time. */
  get isOver(): boolean {
    return this.clock.monotonic() - this.since >= SLICE_MS;
  }

  /** Yields to the event loop once, then starts the next slice. */
  async renew(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.since = this.clock.monotonic();
  }
}
