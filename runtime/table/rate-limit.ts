/**
 * Fixed-window rate limits per (profile, route), for the two rate stages (§8).
 *
 * A window opens with the first authenticated request and lasts 60 s. Only authenticated requests take slots, so that
 * outsiders cannot use up a sender's quota. Windows belong to names, not to tables, so a swap does not reset them.
 * Gateways that share a store also share the windows (shared-window.ts).
 */

import { SharedWindow, waitSeconds } from '../../modules/cluster/runtime/shared-window.ts';
import type { Clock } from '../platform/clock.ts';
import { laneKey } from '../store/identity.ts';
import type { TakeSlots } from '../store/rate-slots.ts';

export const RATE_WINDOW_MS = 60_000;

/** One route's window. Times are monotonic ms. */
export class RateWindow {
  private opened = Number.NEGATIVE_INFINITY;
  private taken = 0;
  private shared: SharedWindow | null = null;

  /** From now on slots come from the shared window. */
  share(shared: SharedWindow): void {
    this.shared = shared;
  }

  /** 0 when one of the `limit` slots is free, as far as this gateway knows; otherwise the seconds (at least 1) until one is. */
  wait(limit: number, now: number): number {
    if (this.shared !== null) return this.shared.wait(limit);
    const age = now - this.opened;
    if (age >= RATE_WINDOW_MS || this.taken < limit) return 0;
    return waitSeconds(RATE_WINDOW_MS - age);
  }

  /** Takes a slot and returns 0; returns the same as `wait` when none is free. Rejects with StoreUnavailable if shared. */
  take(limit: number, now: number): number | Promise<number> {
    if (this.shared !== null) return this.shared.take(limit);
    const wait = this.wait(limit, now);
    if (wait > 0) return wait;
    if (now - this.opened >= RATE_WINDOW_MS) {
      this.opened = now;
      this.taken = 0;
    }
    this.taken++;
    return 0;
  }

  /** Whether this window can be dropped: it holds nothing that is still needed. */
  expired(now: number): boolean {
    return this.shared === null ? now - this.opened >= RATE_WINDOW_MS : this.shared.isIdle;
  }
}

/** The windows of all routes; a linked route holds its own. */
export class RateWindows {
  private readonly windows = new Map<string, RateWindow>();
  private shared: ((name: string) => SharedWindow) | null = null;

  /** From now on all windows, present and future, are shared through the store. */
  share(takeSlots: TakeSlots, clock: Clock): void {
    const shared = (name: string): SharedWindow => new SharedWindow(name, takeSlots, clock);
    this.shared = shared;
    for (const [name, window] of this.windows) window.share(shared(name));
  }

  /** The window of a route; the same one for each table. */
  of(profile: string, route: string): RateWindow {
    const name = laneKey(profile, route);
    let window = this.windows.get(name);
    if (window === undefined) {
      window = new RateWindow();
      if (this.shared !== null) window.share(this.shared(name));
      this.windows.set(name, window);
    }
    return window;
  }

  /** Drops windows that have expired and belong to no route in service. */
  retain(live: ReadonlySet<RateWindow>, now: number): void {
    for (const [key, window] of this.windows) {
      if (!live.has(window) && window.expired(now)) this.windows.delete(key);
    }
  }
}
