/**
 * Keeps deliveries within a public service's limits: a maximum number of messages per period, per chat or per credentials.
 *
 * Each message reserves a slot, now or in the near future, and waits for it. If the next free slot is further away than
 * `longestHoldMs`, the delivery returns to the queue with that wait. Nothing was sent, and it does not count as an attempt.
 */
import type { PacePlan } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';

/** A rule, with the key under which its messages are counted. */
export interface PaceRule {
  readonly key: string;
  readonly plan: PacePlan;
}

type Slot = { readonly kind: 'go' } | { readonly kind: 'later'; readonly wait_ms: number };

export interface Pace {
  /** Resolves with `go` once the message may be sent or the signal aborts, or at once with `later` and the wait. */
  take(rules: readonly PaceRule[], signal: AbortSignal): Promise<Slot>;
}

interface PaceOptions {
  readonly clock: Clock;
  readonly longestHoldMs: number;
}

/** Number of keys above which idle ones are dropped, and the minimum time between two sweeps, in ms. */
const MAX_KEYS = 10_000;
const SWEEP_MS = 60_000;

/** Creates a pace whose slots are kept in memory. */
export function createPace({ clock, longestHoldMs }: PaceOptions): Pace {
  /** Reserved slots of each key, oldest first, in monotonic ms; at most the number that its rule allows. */
  const sentTimes = new Map<string, number[]>();
  let swept = Number.NEGATIVE_INFINITY;

  function nextSlot(rules: readonly PaceRule[], now: number): number {
    let slot = now;
    for (const { key, plan } of rules) {
      const slots = sentTimes.get(key) ?? [];
      const oldest = slots.length < plan.messages ? undefined : slots[slots.length - plan.messages];
      if (oldest !== undefined) slot = Math.max(slot, oldest + plan.period_ms);
    }
    return slot;
  }

  function record(rules: readonly PaceRule[], slot: number): void {
    for (const { key, plan } of rules) {
      const slots = sentTimes.get(key) ?? [];
      slots.push(slot);
      sentTimes.set(key, slots.slice(-plan.messages));
    }
  }

  function dropIdle(now: number): void {
    if (sentTimes.size <= MAX_KEYS || now - swept < SWEEP_MS) return;
    swept = now;
    // Periods are minutes at most, so slots older than an hour no longer limit anything.
    for (const [key, slots] of sentTimes) if ((slots.at(-1) ?? 0) < now - 3_600_000) sentTimes.delete(key);
  }

  return {
    async take(rules, signal) {
      if (rules.length === 0) return { kind: 'go' };
      const now = clock.monotonic();
      const slot = nextSlot(rules, now);
      if (slot - now > longestHoldMs) return { kind: 'later', wait_ms: Math.ceil(slot - now) };
      record(rules, slot);
      dropIdle(now);
      if (slot > now) await sleep(slot - now, { clock, signal });
      return { kind: 'go' };
    },
  };
}

function sleep(ms: number, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
