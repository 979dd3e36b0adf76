/**
 * A queue of lanes for work that shares a limit: each lane (a route, a target) keeps its own order and its own cap, and
 * lanes take turns, so that a burst on one holds up no other.
 */

export interface Turn<T> {
  readonly lane: string;
  readonly item: T;
}

interface Lane<T> {
  items: T[];
  /** Index of the first item: shifting long arrays is not free. */
  head: number;
  active: number;
  cap: number;
}

export class FairQueue<T> {
  private readonly lanes = new Map<string, Lane<T>>();
  /** Lanes that have an item and may start it, in the order of their turns. */
  private readonly ready = new Set<string>();
  private waiting = 0;
  private running = 0;

  /** Items that wait. */
  get queued(): number {
    return this.waiting;
  }

  /** Items taken and not released. */
  get active(): number {
    return this.running;
  }

  /** `cap`: items of the lane at once; the latest one given applies. */
  push(name: string, item: T, cap: number): void {
    let lane = this.lanes.get(name);
    if (lane === undefined) {
      lane = { items: [], head: 0, active: 0, cap };
      this.lanes.set(name, lane);
    }
    lane.cap = cap;
    lane.items.push(item);
    this.waiting++;
    this.enlist(name, lane);
  }

  /** The next item whose lane may start one. */
  take(): Turn<T> | null {
    const [name] = this.ready;
    const lane = name === undefined ? undefined : this.lanes.get(name);
    if (name === undefined || lane === undefined) return null;
    const item = lane.items[lane.head] as T;
    lane.head++;
    if (lane.head > 1024 && lane.head * 2 > lane.items.length) {
      lane.items = lane.items.slice(lane.head);
      lane.head = 0;
    }
    lane.active++;
    this.waiting--;
    this.running++;
    this.ready.delete(name);
    this.enlist(name, lane);
    return { lane: name, item };
  }

  /** An item of the lane is finished. */
  release(name: string): void {
    const lane = this.lanes.get(name);
    if (lane === undefined) return;
    lane.active--;
    this.running--;
    if (lane.active === 0 && lane.head === lane.items.length) this.lanes.delete(name);
    else this.enlist(name, lane);
  }

  private enlist(name: string, lane: Lane<T>): void {
    if (lane.head < lane.items.length && lane.active < lane.cap) this.ready.add(name);
  }
}
