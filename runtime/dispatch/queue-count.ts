/**
 * How many dispatches wait for a run, between two takings of work: what the last one left behind, and what was stored
 * since. For the limit beyond which events are refused.
 */

export class QueueCount {
  /** Counts the takings that were sent. */
  private taking = 0;
  private left = 0;
  private stored = 0;
  private arriving = 0;

  get size(): number {
    return this.left + this.stored + this.arriving;
  }

  /** An event is being stored; to be called with whether it was. */
  arrive(): (isStored: boolean) => void {
    const { taking } = this;
    this.arriving++;
    return (isStored) => {
      this.arriving--;
      // Changes take effect in order: a taking that was sent after this one counts it.
      if (isStored && taking === this.taking) this.stored++;
    };
  }

  /** Work is being taken; to be called with what is left waiting. */
  take(): (waiting: number) => void {
    this.taking++;
    this.left += this.stored;
    this.stored = 0;
    return (waiting) => {
      this.left = waiting;
    };
  }
}
