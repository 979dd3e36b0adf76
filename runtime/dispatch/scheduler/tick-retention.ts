/** Removes old records of fired instants, once an hour, for the scheduler. */
import type { Store } from '../../store/store.ts';

const EVERY_MS = 3_600_000;
/** Most records removed in one change. */
const SLICE = 1000;
/** Least time they are kept, in ms: they prevent a second firing after the clock was set back. */
const KEEP_MS = 48 * 3_600_000;

export class TickRetention {
  private readonly store: Pick<Store, 'write'>;
  private dueAt = 0;

  constructor(store: Pick<Store, 'write'>) {
    this.store = store;
  }

  /** @param now Unix ms @param days for which ended dispatches are kept */
  async forget(now: number, days: number): Promise<void> {
    // A due time that is further ahead was set before the clock was set back.
    if (now < this.dueAt && this.dueAt - now <= EVERY_MS) return;
    this.dueAt = now + EVERY_MS;
    const before = Math.round(now - Math.max(KEEP_MS, days * 24 * 3_600_000));
    while ((await this.store.write({ kind: 'forget_ticks', before, limit: SLICE })) === SLICE);
  }
}
