/**
 * One timer for many requests that may all take equally long: a timer of its own for each would cost more than the rest
 * of building it. The first request is due first, so only the oldest needs a timer.
 *
 * The requests form a list through their own fields, and one that leaves lets go of its neighbours: a Map, or a link
 * left behind, would keep ended requests alive from one young garbage collection to the next.
 */
import type { Clock } from '../../platform/clock.ts';

/** Something that may take only so long. The fields are the list's. */
export abstract class Timed {
  dueAt = 0;
  older: Timed | null = null;
  newer: Timed | null = null;
  /** Its time is over. */
  abstract expire(): void;
}

export class Deadlines {
  private readonly clock: Clock;
  private readonly durationMs: number;
  private oldest: Timed | null = null;
  private newest: Timed | null = null;
  private armed = false;

  constructor(clock: Clock, durationMs: number) {
    this.clock = clock;
    this.durationMs = durationMs;
  }

  add(timed: Timed): void {
    timed.dueAt = this.clock.monotonic() + this.durationMs;
    timed.older = this.newest;
    if (this.newest === null) this.oldest = timed;
    else this.newest.newer = timed;
    this.newest = timed;
    this.arm(this.durationMs);
  }

  /** One that is in the list. */
  delete(timed: Timed): void {
    const { older, newer } = timed;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    timed.older = null;
    timed.newer = null;
  }

  /** A timer that finds nothing due costs little; it looks for the next one. */
  private arm(delayMs: number): void {
    if (this.armed) return;
    this.armed = true;
    this.clock.after(delayMs, () => {
      this.armed = false;
      this.expireDue();
    });
  }

  /** Whatever expires takes itself out. */
  private expireDue(): void {
    const now = this.clock.monotonic();
    for (let timed = this.oldest; timed !== null; timed = this.oldest) {
      if (timed.dueAt > now) {
        this.arm(timed.dueAt - now);
        return;
      }
      timed.expire();
    }
  }
}
