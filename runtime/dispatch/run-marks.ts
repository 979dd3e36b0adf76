/**
 * Records that runs have begun, for those that last: an operator sees them as running. A run that ends within a moment
 * is recorded with its end, which spares the store a change in three. Should a mark be lost, the dispatch is pending
 * still and runs again, which is all that the mark would have meant.
 */
import type { Clock, Timer } from '../clock.ts';
import type { Ref } from '../store/mutations.ts';
import type { Store } from '../store/store.ts';

/** A run that lasts so long is marked, in ms. */
const MOMENT_MS = 50;

export class RunMarks {
  /** Runs without a mark, with the unix ms of their beginning. */
  private readonly young = new Map<Ref, number>();
  private timer: Timer | null = null;
  private readonly clock: Clock;
  private readonly store: Store;

  constructor({ clock, store }: { readonly clock: Clock; readonly store: Store }) {
    this.clock = clock;
    this.store = store;
  }

  /** @param at unix ms */
  began(ref: Ref, at: number): void {
    this.young.set(ref, at);
    this.timer ??= this.clock.after(MOMENT_MS, () => this.mark());
  }

  ended(ref: Ref): void {
    this.young.delete(ref);
  }

  /** Marks nothing more. */
  close(): void {
    this.timer?.cancel();
    this.young.clear();
  }

  private mark(): void {
    this.timer = null;
    for (const [ref, at] of this.young) {
      this.store.write({ kind: 'advance', ref, to: 'running', at }).catch(() => {});
    }
    this.young.clear();
  }
}
