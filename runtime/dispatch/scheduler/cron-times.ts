/** Computes the instants of a schedule, for the scheduler: the next, the latest, and their number. */
import { Cron } from 'croner';

export interface CronTimes {
  /** Unix ms of the first instant after `after`; null when there are no more. */
  next(after: number): number | null;
  /** Unix ms of the last instant up to and including `until`, but not before `least`. */
  latest(least: number, until: number): number;
  /** Instants in (after, before), counted up to `most`. */
  count(after: number, before: number, most: number): number;
}

/** The same as the compiler's, so that jobs fire at the times that it forecasts. A test compares them. */
const OPTIONS = { mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true } as const;

/** @throws Error for an expression that cannot be parsed; an unknown zone throws on first use. The compiler refuses both. */
export function readCron(schedule: string, timezone: string): CronTimes {
  const cron = new Cron(schedule, { ...OPTIONS, timezone });
  const next = (after: number): number | null => cron.nextRun(new Date(after))?.getTime() ?? null;
  return {
    next,
    latest(least, until) {
      // The library searches strictly before its argument, in whole seconds.
      const [last] = cron.previousRuns(1, new Date(until + 1000 - (until % 1000)));
      return Math.max(least, last?.getTime() ?? least);
    },
    count(after, before, most) {
      let count = 0;
      for (let at = next(after); at !== null && at < before && count < most; at = next(at)) count += 1;
      return count;
    },
  };
}
