/** Processes long lists in batches, so that requests are served between two of them. */
import { setImmediate } from 'node:timers/promises';

/** Routes of a batch: they take a few ms to parse, check or link. */
const BATCH = 32;

/** Calls `work` for one batch after another; rejects with its first error. */
export async function inBatches<T>(
  items: readonly T[],
  work: (batch: readonly T[]) => void | Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    if (at > 0) await setImmediate();
    await work(items.slice(at, at + BATCH));
  }
}
