/** Removes the records of instants that were dealt with long ago, once an hour, for the scheduler. */
import type { Store } from '../../store/store.ts';

const EVERY_MS = 3_600_000;
/** How many at once. */
const SLICE = 1000;
/** They are kept at least so long, in ms: they are what makes a clock that steps back harmless. */
const KEEP_MS = 48 * 3_600_000;

export class TickRetention {
  private readonly store: Pick<Store, 'write'>;
  private dueAt = 0;

  constructor(store: Pick<Store, 'write'>) {
    this.store = store;
  }

  /** @param now unix ms @param days for which ended dispatches are kept */
  async forget(now: number, days: number): Promise<void> {
    // An hour that lies further ahead is one of a clock that was set back since.
    if (now < this.dueAt && this.dueAt - now <= EVERY_MS) return;
    this.dueAt = now + EVERY_MS;
    const before = Math.round(now - Math.max(KEEP_MS, days * 24 * 3_600_000));
    while ((await this.store.write({ kind: 'forget_ticks', before, limit: SLICE })) === SLICE);
  }
}
