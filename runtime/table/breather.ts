/** Cuts long work on the event loop into short pieces, so that requests are served between them. */
import type { Clock } from '../platform/clock.ts';

/** Longest piece of work between two looks at the event loop, in ms. */
const PIECE_MS = 3;

export class Breather {
  private readonly clock: Clock;
  private since: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.since = clock.monotonic();
  }

  /** The current piece has lasted long enough. */
  get due(): boolean {
    return this.clock.monotonic() - this.since >= PIECE_MS;
  }

  /** Lets the event loop turn once. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.since = this.clock.monotonic();
  }
}
