/** Checks for changes of the table and the subscriptions before a request is routed, at most once per turn of the event loop. */
import type { Clock } from '../platform/clock.ts';

export interface ChangeCheckContext {
  /** Called once per turn: null when the subscriptions have not changed, otherwise resolves once they are loaded. */
  readonly checkSubscriptions: () => Promise<void> | null;
  /** Called at most once per second, for changes that the watch on the table's folder missed. */
  readonly checkTable: () => void;
  readonly clock: Clock;
}

/** How often the table is checked, in ms. */
const TABLE_MS = 1000;

export class ChangeCheck {
  private readonly context: ChangeCheckContext;
  private isDone = false;
  private tableCheckedAt = 0;
  /** What the requests of this turn wait for. */
  private pending: Promise<void> | null = null;

  constructor(context: ChangeCheckContext) {
    this.context = context;
  }

  /**
   * Returns null when the request need not wait, otherwise a promise that resolves once it can be routed. The requests of
   * one turn were all sent before it began, so one `stat` for all of them never misses a subscription that was written
   * before its request was sent.
   */
  run(): Promise<void> | null {
    if (!this.isDone) this.check();
    return this.pending;
  }

  private check(): void {
    this.isDone = true;
    setImmediate(this.endTurn);
    this.pending = this.context.checkSubscriptions();
    const now = this.context.clock.monotonic();
    if (now - this.tableCheckedAt < TABLE_MS) return;
    this.tableCheckedAt = now;
    this.context.checkTable();
  }

  private readonly endTurn = (): void => {
    this.isDone = false;
  };
}
