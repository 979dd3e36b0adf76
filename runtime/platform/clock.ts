/** The clock of the runtime. It is injected, so that tests can use a fake clock. */

/**
 * A pending timer.
 *
 * @example
 * ```ts
 * import type { Timer } from 'hookwright/runtime';
 *
 * const never: Timer = { cancel: () => {} };
 * ```
 */
export interface Timer {
  /** Prevents the call. Idempotent. */
  cancel(): void;
}

/**
 * The clock of a service: a program's tests can pass their own. All times are in ms.
 *
 * @example
 * ```ts
 * import type { Clock } from 'hookwright/runtime';
 *
 * const frozen: Clock = {
 *   now: () => Date.UTC(2026, 0, 1),
 *   monotonic: () => 0,
 *   after: () => ({ cancel: () => {} }),
 * };
 * ```
 */
export interface Clock {
  /** Unix time in ms. May jump: use it for instants, not for durations. */
  now(): number;
  /** Monotonic time in ms, for durations. */
  monotonic(): number;
  /** Calls `fire` once after `delayMs`; a pending timer does not keep the process alive. */
  after(delayMs: number, fire: () => void): Timer;
}

/** Longest delay of setTimeout; longer delays are chained. */
const MAX_DELAY_MS = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, fire) {
    let left = Math.max(0, delayMs);
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const step = Math.min(left, MAX_DELAY_MS);
      left -= step;
      handle = setTimeout(left > 0 ? arm : fire, step);
      handle.unref();
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves when `work` settles, or after `ms`. */
export function settledWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, resolve);
    const settled = (): void => {
      timer.cancel();
      resolve();
    };
    work.then(settled, settled);
  });
}
