/** Time as the runtime sees it: injected, so that every rule of time is tested with a fake clock. */

/** A pending timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Unix time in ms. May jump: use it for instants, not for durations. */
  now(): number;
  /** Monotonic time in ms, for durations. */
  monotonic(): number;
  /** Calls `fire` once after `delayMs`; a pending timer does not keep the process alive. */
  after(delayMs: number, fire: () => void): Timer;
}

/** Longest delay setTimeout takes; longer ones are chained. */
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
