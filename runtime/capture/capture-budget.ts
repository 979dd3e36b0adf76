/** Decides which requests of a route are kept, so that neither a busy sender nor a stranger fills the file. */

/** Requests without a valid signature that are kept of a route in a minute. */
const STRANGERS = 5;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** What is to be kept and can still give way to another. */
export interface Waiting {
  /** It has been handed on, or given up. */
  isGone: boolean;
}

/** The budget of one route. */
export class CaptureBudget<Record extends Waiting> {
  private second = Number.NEGATIVE_INFINITY;
  private used = 0;
  /** Records of accepted requests in this second: they give way to those of refused ones. */
  private taken: Record[] = [];
  private minute = Number.NEGATIVE_INFINITY;
  private strangers = 0;

  /** Whether another request without a valid signature is kept. @param now monotonic ms */
  admitStranger(now: number): boolean {
    if (now - this.minute >= MINUTE_MS) {
      this.minute = now;
      this.strangers = 0;
    }
    this.strangers++;
    return this.strangers <= STRANGERS;
  }

  /**
   * Whether another request is kept; a record: it is, in place of this one.
   * @param perSecond how many of this route @param isTaken it is on its way to an agent, a target or a job
   */
  admit(perSecond: number, isTaken: boolean, now: number): boolean | Record {
    if (now - this.second >= SECOND_MS) {
      this.second = now;
      this.used = 0;
      this.taken = [];
    }
    if (this.used < perSecond) {
      this.used++;
      return true;
    }
    if (isTaken) return false;
    for (let last = this.taken.pop(); last !== undefined; last = this.taken.pop()) if (!last.isGone) return last;
    return false;
  }

  /** One that was admitted and was taken. */
  addTaken(record: Record): void {
    this.taken.push(record);
  }
}
