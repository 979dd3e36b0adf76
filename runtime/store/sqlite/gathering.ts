/**
 * How long the events of `full` wait for one another. A sync costs as much as several events, and those that are to come
 * next are already in the sockets: a group goes on for as long as each turn of the event loop brings more.
 */

/** From its first turn on, in ms. */
const MOST_MS = 8;

export class Gathering {
  private count = 0;
  private until = 0;

  /**
   * Asked at the end of a turn; whether the group waits for another one.
   * @param count events of the group so far
   * @param now monotonic ms
   */
  goesOn(count: number, now: number): boolean {
    if (this.count === 0) this.until = now + MOST_MS;
    const goesOn = count > this.count && now < this.until;
    this.count = goesOn ? count : 0;
    return goesOn;
  }
}
