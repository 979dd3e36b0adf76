/**
 * Fixed-window rate limits per (profile, route), for the two rate stages (§8).
 *
 * A window opens with the first authenticated request and lasts 60 s. Only authenticated requests take slots, so that
 * outsiders cannot exhaust a sender's quota. Windows belong to names, not to tables, so a swap does not reset them.
 * Gateways that share a store also share its windows.
 */

import { utcTime } from '../../base/text.ts';
import { laneKey, laneParts } from '../store/records.ts';
import type { SlotWindow } from '../store/shared.ts';

export const RATE_WINDOW_MS = 60_000;

/** Rounds ms up to the seconds of a `Retry-After`, at least 1. */
export const waitSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The window of a gateway that shares no store. */
export class RateWindow implements SlotWindow {
  private opened = Number.NEGATIVE_INFINITY;
  private taken = 0;

  wait(limit: number, now: number): number {
    const age = now - this.opened;
    if (age >= RATE_WINDOW_MS || this.taken < limit) return 0;
    return waitSeconds(RATE_WINDOW_MS - age);
  }

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

  give(at: number): void {
    if (at >= this.opened && this.taken > 0) this.taken--;
  }

  expired(now: number): boolean {
    return now - this.opened >= RATE_WINDOW_MS;
  }
}

/** Most requests that a full window refuses and that are read all the same, so that they can be captured and replayed. */
const MOST_READ = 20;
/** How long refused requests are reported, in ms. */
const REPORTED_MS = 3_600_000;

/** The requests of a route that its full window has refused, since an hour without any. */
export class Refusals {
  private readonly samples = new RateWindow();
  private count = 0;
  /** Unix ms of the latest. */
  private at = 0;

  note(now: number): void {
    this.count = this.isOver(now) ? 1 : this.count + 1;
    this.at = now;
  }

  mayRead(now: number): boolean {
    return this.samples.take(MOST_READ, now) === 0;
  }

  describe(route: string, now: number): string | null {
    if (this.isOver(now)) return null;
    return `route ${route}: its rate_limit has refused ${this.count} requests, the latest at ${utcTime(this.at)}`;
  }

  private isOver(now: number): boolean {
    return now - this.at >= REPORTED_MS;
  }
}

/** The windows of all routes; a linked route holds its own. */
export class RateWindows {
  private readonly refusals = new Map<string, Refusals>();
  private readonly windows = new Map<string, SlotWindow>();
  private open: (name: string) => SlotWindow = () => new RateWindow();

  /** From now on, this function opens new windows. Call it before the first request. */
  use(open: (name: string) => SlotWindow): void {
    this.open = open;
  }

  /** The window of a route; the same one for each table. */
  of(profile: string, route: string): SlotWindow {
    const name = laneKey(profile, route);
    const window = this.windows.get(name) ?? this.open(name);
    this.windows.set(name, window);
    return window;
  }

  refusalsOf(profile: string, route: string): Refusals {
    const name = laneKey(profile, route);
    const refusals = this.refusals.get(name) ?? new Refusals();
    this.refusals.set(name, refusals);
    return refusals;
  }

  /** The routes that have refused requests within the hour. @param now Unix ms */
  refusing(now: number): string[] {
    return [...this.refusals].flatMap(([lane, of]) => of.describe(laneParts(lane).name ?? '', now) ?? []);
  }

  /** Drops windows that have expired and belong to no route in service. */
  retain(live: ReadonlySet<SlotWindow>, now: number): void {
    for (const [key, window] of this.windows) {
      if (!live.has(window) && window.expired(now)) this.windows.delete(key);
    }
  }
}
