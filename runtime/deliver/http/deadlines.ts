/**
 * One timer for many requests with the same time limit: a timer for each would cost more than building the request.
 * Requests fall due in the order in which they were added, so only the oldest needs a timer.
 *
 * The requests form a linked list through their own fields, and clear those fields when they leave it: a Map, or a link
 * left behind, would keep ended requests alive across minor garbage collections.
 */
import type { Clock } from '../../platform/clock.ts';

/** Something with a time limit. The fields belong to the list. */
export abstract class Timed {
  dueAt = 0;
  older: Timed | null = null;
  newer: Timed | null = null;
  /** Called when the time limit is reached; must call `delete`. */
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

  /** Removes an element that is in the list. */
  delete(timed: Timed): void {
    const { older, newer } = timed;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    timed.older = null;
    timed.newer = null;
  }

  /** Sets the timer unless it is set. When it fires too early, it is set again for the oldest element. */
  private arm(delayMs: number): void {
    if (this.armed) return;
    this.armed = true;
    this.clock.after(delayMs, () => {
      this.armed = false;
      this.expireDue();
    });
  }

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
