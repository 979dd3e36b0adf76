/** Limits the log lines that any client can cause: a maximum of each kind per minute, then only a count. */

/** Most lines of one kind per minute. */
const LINES = 100;
const MINUTE_MS = 60_000;

export class LineBudget {
  private since = Number.NEGATIVE_INFINITY;
  private written = 0;
  private held = 0;

  /**
   * Whether another line may be written now, and how many were left out since the last one.
   * @param now monotonic ms
   */
  take(now: number): { readonly write: boolean; readonly held: number } {
    if (now - this.since >= MINUTE_MS) {
      this.since = now;
      this.written = 0;
    }
    if (this.written >= LINES) {
      this.held++;
      return { write: false, held: 0 };
    }
    this.written++;
    const { held } = this;
    this.held = 0;
    return { write: true, held };
  }
}
