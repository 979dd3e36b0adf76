/** Decides which requests of a route are kept, so that neither a busy sender nor an outsider fills the file. */

/** Most requests of a route without a valid signature that are kept per minute. */
const UNVERIFIED = 5;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** A request that waits to be stored and can still be replaced by another. */
export interface Waiting {
  /** It has been sent to the writer, or dropped. */
  isGone: boolean;
}

/** The budget of one route. */
export class CaptureBudget<Record extends Waiting> {
  private second = Number.NEGATIVE_INFINITY;
  private used = 0;
  /** Records of accepted requests in this second; refused requests replace them. */
  private taken: Record[] = [];
  private minute = Number.NEGATIVE_INFINITY;
  private unverified = 0;

  /** Whether another request without a valid signature is kept. @param now monotonic ms */
  admitUnverified(now: number): boolean {
    if (now - this.minute >= MINUTE_MS) {
      this.minute = now;
      this.unverified = 0;
    }
    this.unverified++;
    return this.unverified <= UNVERIFIED;
  }

  /**
   * Whether another request is kept; a record means that it is kept instead of that one.
   * @param perSecond most requests of this route @param isTaken its event was accepted @param now monotonic ms
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

  /** Adds the record of an admitted request whose event was accepted. */
  addTaken(record: Record): void {
    this.taken.push(record);
  }
}
