/**
 * Fixed-window rate limits per (profile, route), for the two rate stages (§8).
 *
 * A window opens with the first authenticated request and lasts 60 s; a slot is taken only by an authenticated one, so
 * that a stranger cannot use up a sender's quota. Windows belong to names, not to tables: a swap does not reset them.
 * Where gateways share a store they share the windows as well (shared-window.ts).
 */
import type { Clock } from '../platform/clock.ts';
import { laneKey } from '../store/identity.ts';
import type { TakeSlots } from '../store/rate-slots.ts';
import { SharedWindow, waitSeconds } from './shared-window.ts';

export const RATE_WINDOW_MS = 60_000;

/** One route's window. Times are monotonic ms. */
export class RateWindow {
  private opened = Number.NEGATIVE_INFINITY;
  private taken = 0;
  private shared: SharedWindow | null = null;

  /** Its slots come from there from now on. */
  share(shared: SharedWindow): void {
    this.shared = shared;
  }

  /** 0 when there is a free slot among `limit`, as far as this gateway knows, else the seconds (at least 1) until there is one. */
  wait(limit: number, now: number): number {
    if (this.shared !== null) return this.shared.wait(limit);
    const age = now - this.opened;
    if (age >= RATE_WINDOW_MS || this.taken < limit) return 0;
    return waitSeconds(RATE_WINDOW_MS - age);
  }

  /** Takes a slot; like `wait` when there is none. @throws (as a rejection) StoreUnavailable of a shared window */
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

  /** Nothing is forgotten when this window is dropped. */
  expired(now: number): boolean {
    return this.shared === null ? now - this.opened >= RATE_WINDOW_MS : this.shared.isIdle;
  }
}

/** The windows of all routes; routes hold theirs once linked. */
export class RateWindows {
  private readonly windows = new Map<string, RateWindow>();
  private shared: ((name: string) => SharedWindow) | null = null;

  /** The windows of these and all further routes are those of the store. */
  share(takeSlots: TakeSlots, clock: Clock): void {
    const shared = (name: string): SharedWindow => new SharedWindow(name, takeSlots, clock);
    this.shared = shared;
    for (const [name, window] of this.windows) window.share(shared(name));
  }

  /** The window of a route, kept across tables. */
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

  /** Forgets windows that are over and belong to none of the routes in service. */
  retain(live: ReadonlySet<RateWindow>, now: number): void {
    for (const [key, window] of this.windows) {
      if (!live.has(window) && window.expired(now)) this.windows.delete(key);
    }
  }
}
