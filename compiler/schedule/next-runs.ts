/** Computes the instants at which a schedule will fire, in a time zone. */
import { Cron } from 'croner';
import { CRON_OPTIONS } from './parse-schedule.ts';

export interface Forecast {
  /** A valid five-field cron expression. */
  readonly schedule: string;
  /** A valid IANA zone. */
  readonly timezone: string;
  /** Unix ms; only later runs are returned. */
  readonly from: number;
  readonly count: number;
}

/** Returns Unix ms in ascending order: at most `count`, and none if the schedule never fires. */
export function nextRuns({ schedule, timezone, from, count }: Forecast): readonly number[] {
  const cron = new Cron(schedule, { ...CRON_OPTIONS, timezone, paused: true });
  return cron.nextRuns(count, new Date(from)).map((date) => date.getTime());
}
