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

/**
 * The check returns null when the request need not wait, otherwise a promise that resolves once it can be routed. The
 * requests of one turn were all sent before it began, so one `stat` for all of them never misses a subscription that was
 * written before its request was sent.
 */
export function createChangeCheck({
  checkSubscriptions,
  checkTable,
  clock,
}: ChangeCheckContext): () => Promise<void> | null {
  let isDone = false;
  let tableCheckedAt = 0;
  /** What the requests of this turn wait for. */
  let pending: Promise<void> | null = null;
  const endTurn = (): void => {
    isDone = false;
  };
  return () => {
    if (isDone) return pending;
    isDone = true;
    setImmediate(endTurn);
    pending = checkSubscriptions();
    const now = clock.monotonic();
    if (now - tableCheckedAt < TABLE_MS) return pending;
    tableCheckedAt = now;
    checkTable();
    return pending;
  };
}
