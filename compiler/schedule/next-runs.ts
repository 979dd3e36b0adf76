/** Forecasts a schedule: the instants it will fire at, in a time zone. */
import { Cron } from 'croner';
import { CRON_OPTIONS } from './parse-schedule.ts';

export interface Forecast {
  /** Five-field cron expression, valid. */
  readonly schedule: string;
  /** IANA zone, valid. */
  readonly timezone: string;
  /** Unix time in ms; runs after it are wanted. */
  readonly from: number;
  readonly count: number;
}

/** Unix times in ms, ascending; fewer than asked for when the schedule ends, none when it never fires. */
export function nextRuns({ schedule, timezone, from, count }: Forecast): readonly number[] {
  const cron = new Cron(schedule, { ...CRON_OPTIONS, timezone, paused: true });
  return cron.nextRuns(count, new Date(from)).map((date) => date.getTime());
}
