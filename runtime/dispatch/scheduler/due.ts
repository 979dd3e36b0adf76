/**
 * Decides which of a job's instants fire that have passed since it was last checked.
 *
 *   cursor ──┬────┬────┬──── started_at ────┬────┬──── now
 *            missed: no gateway ran         late: a jump of the clock, a busy machine
 *
 * Late instants become one run, for the latest of them. When all of them were missed while no gateway ran, the job's
 * `misfire` decides: `skip` fires nothing, `once` fires for the latest. Nothing ever fires twice to catch up.
 */

import { Cron } from 'croner';
import type { JobPlan } from '../../../schemas/generated/types.ts';

export interface Elapsed {
  readonly cron: CronTimes;
  /** Unix ms of the first passed instant that has not been handled. */
  readonly first: number;
  /** Unix ms since which a gateway has been running. */
  readonly started_at: number;
  /** Unix ms. */
  readonly now: number;
  readonly misfire: JobPlan['misfire'];
}

export interface Due {
  /** Unix ms of the latest instant; all earlier ones are handled together with it. */
  readonly due_at: number;
  readonly fires: boolean;
  /** Number of instants for which nothing fires. */
  readonly missed: number;
  /** Unix ms of the next instant; null: there is none. */
  readonly next: number | null;
}

/** Counting stops here: it would take seconds, and the exact number no longer matters. */
const MOST_MISSED = 1000;

/** Decides about the instants from `first` to `now`. */
export function decideDue({ cron, first, started_at, now, misfire }: Elapsed): Due {
  const second = cron.next(first);
  const isOne = second === null || second > now;
  const due_at = isOne ? first : cron.latest(second, now);
  const before = isOne ? 0 : 1 + cron.count(first, due_at, MOST_MISSED - 1);
  const fires = due_at >= started_at || misfire === 'once';
  return { due_at, fires, missed: fires ? before : before + 1, next: isOne ? second : cron.next(due_at) };
}

/** Computes the instants of a schedule, for the scheduler: the next, the latest, and their number. */
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
