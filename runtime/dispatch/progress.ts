/** Lets a stop wait until work has ended, for a limited time. */
import type { Clock } from '../platform/clock.ts';

export class WorkProgress {
  private readonly checks = new Set<() => void>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  changed(): void {
    for (const check of this.checks) check();
  }

  /** Resolves once `done()` returns true, or after `ms`. */
  until(done: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.checks.delete(check);
        timer.cancel();
        resolve();
      };
      const check = (): void => (done() ? finish() : undefined);
      const timer = this.clock.after(ms, finish);
      this.checks.add(check);
      check();
    });
  }
}
