/**
 * The clock of a gateway that shares its store with others: instants are those of the database, carried on by this
 * machine's monotonic time. Until the database has been asked they are the machine's.
 */
import type { Clock, Timer } from './clock.ts';

/** Between which two readings of the monotonic clock, in ms, the shared time was read. */
export interface Reading {
  readonly asked: number;
  readonly answered: number;
}

/** Less than this is no wrong clock. */
const USUAL_MS = 1000;

export class SharedClock implements Clock {
  private readonly machine: Clock;
  /** Unix ms, by the shared time, at which monotonic time began; null: not known. */
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

  /** How far the machine's clock is behind the shared one, in ms; 0 also where that is no more than clocks usually differ. */
  get offset(): number {
    const offset = this.now() - this.machine.now();
    return Math.abs(offset) < USUAL_MS ? 0 : offset;
  }

  /** Takes over what the database says. As long as it may be what is known already, nothing moves. @param now unix ms */
  readonly follow = (now: number, { asked, answered }: Reading): void => {
    const [earliest, latest] = [now - answered, now - asked];
    this.origin = Math.min(latest, Math.max(earliest, this.origin ?? (earliest + latest) / 2));
  };
}
