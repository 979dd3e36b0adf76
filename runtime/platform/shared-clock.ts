/**
 * The clock of a gateway that shares its store: it follows the time of the database, and between readings advances with
 * this machine's monotonic clock. Until the first reading it is the machine's clock.
 */
import type { Clock, Timer } from './clock.ts';

/** Monotonic ms before and after the shared time was read. */
export interface Reading {
  readonly asked: number;
  readonly answered: number;
}

/** Smaller differences between two clocks, in ms, are normal. */
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

  /** How far the machine's clock is behind the shared one, in ms; 0 when the difference is normal. */
  get offset(): number {
    const offset = this.now() - this.machine.now();
    return Math.abs(offset) < USUAL_MS ? 0 : offset;
  }

  /** Follows a reading of the database's time; nothing changes if the current time is within its error. @param now Unix ms */
  readonly follow = (now: number, { asked, answered }: Reading): void => {
    const [earliest, latest] = [now - answered, now - asked];
    this.origin = Math.min(latest, Math.max(earliest, this.origin ?? (earliest + latest) / 2));
  };
}
