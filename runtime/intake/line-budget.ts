/** Keeps strangers from filling the disk with log lines: a maximum of each kind a minute, then only a count. */

/** Lines of one kind that are written in a minute. */
const LINES = 100;
const MINUTE_MS = 60_000;

export class LineBudget {
  private since = Number.NEGATIVE_INFINITY;
  private written = 0;
  private held = 0;

  /**
   * Whether another line may be written now, and how many were not written since the last that was.
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
