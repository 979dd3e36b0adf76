/**
 * Decides which of a job's instants fire that have passed since it was last checked.
 *
 *   cursor ──┬────┬────┬──── started_at ────┬────┬──── now
 *            missed: no gateway ran         late: a jump of the clock, a busy machine
 *
 * Late instants become one run, for the latest of them. When all of them were missed while no gateway ran, the job's
 * `misfire` decides: `skip` fires nothing, `once` fires for the latest. Nothing ever fires twice to catch up.
 */
import type { JobPlan } from '../../../schemas/generated/types.ts';
import type { CronTimes } from './cron-times.ts';

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
