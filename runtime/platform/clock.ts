/**
 * The clock of the runtime, injected so that tests can use a fake one. A gateway that shares its store follows the time of the
 * database.
 */

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
 * The clock of a service; tests can pass their own. All times are in ms.
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

/**
 * The clock of a gateway that shares its store. It follows the time of the database, and advances between readings with this
 * machine's monotonic clock. Until the first reading it is the machine's clock.
 */

/** Monotonic ms before and after the shared time was read. */
export interface Reading {
  readonly asked: number;
  readonly answered: number;
}

/** Smaller differences between two clocks, in ms, are ignored. */
const USUAL_MS = 1000;

export class SharedClock implements Clock {
  private readonly machine: Clock;
  /** Unix ms, in shared time, at which monotonic time began; null: unknown. */
  private origin: number | null = null;

  constructor(machine: Clock) {
    this.machine = machine;
  }

  now(): number {
    return this.origin === null ? this.machine.now() : Math.floor(this.origin + this.machine.monotonic());
  }

  monotonic(): number {
    return this.machine.monotonic();
  }

  after(delayMs: number, fire: () => void): Timer {
    return this.machine.after(delayMs, fire);
  }

  /** How far the machine's clock is behind the shared one, in ms; 0 if the difference is small. */
  get offset(): number {
    const offset = this.now() - this.machine.now();
    return Math.abs(offset) < USUAL_MS ? 0 : offset;
  }

  /**
   * Follows a reading of the database's time; no change if the current time is within the error of the reading. @param now Unix
   * ms
   */
  readonly follow = (now: number, { asked, answered }: Reading): void => {
    const [earliest, latest] = [now - answered, now - asked];
    this.origin = Math.min(latest, Math.max(earliest, this.origin ?? (earliest + latest) / 2));
  };
}
