/**
 * One route's rate window, shared by all gateways of a store. The store counts a slot before a request gets it, so the
 * limit is never exceeded. Requests that wait during a round trip to the store share the next one. A busy route also
 * reserves slots ahead, so that most requests find one here without a round trip.
 *
 * A slot reserved ahead is valid until its window ends. That end is measured from before the request to the store was
 * sent, by this gateway's monotonic clock, so the window never ends later here than in the store.
 */
import type { Clock } from '../../../runtime/platform/clock.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { SlotWindow } from '../../../runtime/store/shared.ts';
import { waitSeconds } from '../../../runtime/table/rate-limit.ts';

/** How far ahead slots are reserved, in ms. */
const MOMENT_MS = 100;
/** Timeout for the store, in ms. Slots that it grants later are lost. */
const TIMEOUT_MS = 1000;

interface Waiting {
  readonly resolve: (wait: number) => void;
  readonly reject: (error: unknown) => void;
}

export class SharedWindow implements SlotWindow {
  private readonly name: string;
  private readonly takeSlots: TakeSlots;
  private readonly clock: Clock;
  /** Slots that are granted and not used yet. */
  private slots = 0;
  /** Slots taken by all gateways, as of the last grant. */
  private taken = 0;
  /** Monotonic ms at which the window ends. */
  private endsAt = Number.NEGATIVE_INFINITY;
  private askedAt = Number.NEGATIVE_INFINITY;
  /** Slots that requests have used since then. */
  private used = 0;
  private waiting: Waiting[] = [];
  private isAsking = false;

  constructor(name: string, takeSlots: TakeSlots, clock: Clock) {
    this.name = name;
    this.takeSlots = takeSlots;
    this.clock = clock;
  }

  /** 0 unless the window is known to be full; then the seconds (at least 1) until it ends. */
  wait(limit: number): number {
    const left = this.endsAt - this.clock.monotonic();
    return left <= 0 || this.slots > 0 || this.taken < limit ? 0 : waitSeconds(left);
  }

  /** Takes a slot and returns 0, or the seconds until one is free. Rejects with StoreUnavailable. */
  take(limit: number): number | Promise<number> {
    if (this.slots > 0 && this.clock.monotonic() < this.endsAt) {
      this.slots--;
      this.used++;
      return 0;
    }
    const wait = this.wait(limit);
    if (wait > 0) return wait;
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      if (!this.isAsking) void this.ask(limit);
    });
  }

  give(): void {
    if (this.clock.monotonic() < this.endsAt) this.slots++;
  }

  /** True if no request waits for it. */
  expired(): boolean {
    return this.waiting.length === 0;
  }

  private async ask(limit: number): Promise<void> {
    this.isAsking = true;
    while (this.waiting.length > 0) {
      try {
        await this.askOnce(limit);
      } catch (error) {
        for (const { reject } of this.waiting.splice(0)) reject(error);
      }
    }
    this.isAsking = false;
  }

  private async askOnce(limit: number): Promise<void> {
    const requestedAt = this.clock.monotonic();
    const needed = this.waiting.length;
    const ahead = Math.round((this.used * MOMENT_MS) / Math.max(MOMENT_MS, requestedAt - this.askedAt));
    const granted = await this.within(this.takeSlots({ window: this.name, limit, needed, ahead }));
    this.askedAt = requestedAt;
    this.endsAt = requestedAt + granted.left_ms;
    this.taken = granted.taken;
    const served = this.waiting.splice(0, granted.granted);
    this.used = served.length;
    this.slots = granted.granted - served.length;
    for (const { resolve } of served) resolve(0);
    const wait = this.wait(limit);
    if (wait > 0) for (const { resolve } of this.waiting.splice(0)) resolve(wait);
  }

  private async within(requestedAt: Promise<SlotGrant>): Promise<SlotGrant> {
    const late = new Promise<never>((_, reject) => {
      const timer = this.clock.after(TIMEOUT_MS, () =>
        reject(new StoreUnavailable('the store cannot count requests now')),
      );
      const end = (): void => timer.cancel();
      requestedAt.then(end, end);
    });
    return Promise.race([requestedAt, late]);
  }
}

export interface SlotRequest {
  /** Name of the window: the lane of its route. */
  readonly window: string;
  /** Maximum number of slots of the window, over all gateways. */
  readonly limit: number;
  /** Slots for requests that are waiting. */
  readonly needed: number;
  /** Slots to reserve ahead; at most a 64th of the rest is granted, so that no gateway hoards the last ones. */
  readonly ahead: number;
}

export interface SlotGrant {
  /** Fewer than `needed` when the window is full. */
  readonly granted: number;
  /** Slots that all gateways have taken, including these. */
  readonly taken: number;
  /** Time until the window ends, in ms, at the time of the grant. */
  readonly left_ms: number;
}

/** Rejects with StoreUnavailable. */
export type TakeSlots = (request: SlotRequest) => Promise<SlotGrant>;
