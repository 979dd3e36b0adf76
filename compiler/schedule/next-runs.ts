/** Computes the instants at which a schedule will fire, in a time zone. */
import { Cron } from 'croner';
import { CRON_OPTIONS, parseSchedule } from './parse-schedule.ts';
import { isTimeZone } from './time-zone.ts';

export interface Forecast {
  /** A five-field cron expression. */
  readonly schedule: string;
  /** An IANA zone. */
  readonly timezone: string;
  /** Unix ms; only later runs are returned. */
  readonly from: number;
  readonly count: number;
}

/** Returns Unix ms in ascending order: at most `count`, and none if the schedule never fires, or cannot be read: a stored one may be damaged. */
export function nextRuns({ schedule, timezone, from, count }: Forecast): readonly number[] {
  if (!parseSchedule(schedule).ok || !isTimeZone(timezone)) return [];
  const cron = new Cron(schedule, { ...CRON_OPTIONS, timezone, paused: true });
  return cron.nextRuns(count, new Date(from)).map((date) => date.getTime());
}
