/** Bounds what waits in memory, for the run and delivery queues: what does not fit is loaded again when its turn comes. */

/** All texts together, in UTF-16 units. */
const UNITS = 16 * 1024 * 1024;
/** What a dispatch takes beside its texts. */
const OVERHEAD = 1024;

export class TextBudget {
  private left = UNITS;

  /** True when there is room for a dispatch with so much text; `free` gives it back. */
  keep(units: number): boolean {
    if (units + OVERHEAD > this.left) return false;
    this.left -= units + OVERHEAD;
    return true;
  }

  free(units: number): void {
    this.left += units + OVERHEAD;
  }
}
