/**
 * Fixed-window rate limits per (profile, route), for the two rate stages (§8).
 *
 * A window opens with the first authenticated request and lasts 60 s; a slot is taken only by an authenticated one, so
 * that a stranger cannot use up a sender's quota. Windows belong to names, not to tables: a swap does not reset them.
 */

export const RATE_WINDOW_MS = 60_000;

/** One route's window. Times are monotonic ms. */
export class RateWindow {
  private opened = Number.NEGATIVE_INFINITY;
  private taken = 0;

  /** 0 when there is a free slot among `limit`, else the seconds (at least 1) until there is one. */
  wait(limit: number, now: number): number {
    const age = now - this.opened;
    if (age >= RATE_WINDOW_MS || this.taken < limit) return 0;
    return Math.max(1, Math.ceil((RATE_WINDOW_MS - age) / 1000));
  }

  /** Takes a slot; like `wait` when there is none. */
  take(limit: number, now: number): number {
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
    return now - this.opened >= RATE_WINDOW_MS;
  }
}

/** The windows of all routes; routes hold theirs once linked. */
export class RateWindows {
  private readonly windows = new Map<string, RateWindow>();

  /** The window of a route, kept across tables. `/` is in no name. */
  of(profile: string, route: string): RateWindow {
    const key = `${profile}/${route}`;
    let window = this.windows.get(key);
    if (window === undefined) {
      window = new RateWindow();
      this.windows.set(key, window);
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
