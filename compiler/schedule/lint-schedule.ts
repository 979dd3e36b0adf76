/** What is allowed in a schedule and hardly meant: it never fires, its steps are uneven, its time is skipped once a year. */
import { clockGaps } from './clock-gaps.ts';
import { nextRuns } from './next-runs.ts';
import type { Schedule } from './parse-schedule.ts';

export interface ScheduleComplaint {
  readonly message: string;
  readonly hint: string;
}

/** Far back, so that every leap year of the library's range is still ahead. */
const EPOCH = 0;

/** `30 2 30 2 *`: there is no such date. Null: it fires. */
export function neverFires({ text }: Schedule): ScheduleComplaint | null {
  if (nextRuns({ schedule: text, timezone: 'UTC', from: EPOCH, count: 1 }).length > 0) return null;
  return {
    message: `no date matches \`${text}\`: it never fires`,
    hint: 'set `paused: true` to keep a job from firing',
  };
}

interface Stepped {
  readonly field: keyof Omit<Schedule, 'text'>;
  readonly unit: string;
  /** Values the field runs through before it starts again. */
  readonly values: number;
  readonly start: string;
}

const STEPPED: readonly Stepped[] = [
  { field: 'minute', unit: 'minutes', values: 60, start: 'at the full hour' },
  { field: 'hour', unit: 'hours', values: 24, start: 'at midnight' },
  { field: 'dayOfMonth', unit: 'days', values: 31, start: 'on the first of the month' },
  { field: 'month', unit: 'months', values: 12, start: 'in January' },
  { field: 'dayOfWeek', unit: 'days', values: 7, start: 'on Sunday' },
];

/** `*\/45`: at 0 and 45 minutes past each hour, which is not every 45 minutes. */
export function unevenSteps(schedule: Schedule): readonly ScheduleComplaint[] {
  return STEPPED.flatMap(({ field, unit, values, start }) => {
    const step = Number(/^\*\/(\d+)$/.exec(schedule[field])?.[1] ?? '1');
    // Months differ in length: no step but 1 fits them all.
    if (step === 1 || (field !== 'dayOfMonth' && values % step === 0)) return [];
    const message = `\`${schedule[field]}\` is not every ${step} ${unit}: the count starts again ${start}`;
    return [{ message, hint: `write out what is meant, or use a step that divides ${values}` }];
  });
}

const clock = (local: number): string => new Date(local).toISOString().slice(11, 16);

/**
 * A time the clocks skip when they go forward. Schedules that run through every hour are not meant: they follow time as
 * it passes, and nobody waits for one of their runs.
 * @param timezone IANA zone, valid.
 */
export function skippedTime(schedule: Schedule, timezone: string): ScheduleComplaint | null {
  if (schedule.hour.startsWith('*')) return null;
  for (const { from, to } of clockGaps(timezone)) {
    // Read in UTC, the schedule speaks of local times; the gap is given in those.
    const [skipped] = nextRuns({ schedule: schedule.text, timezone: 'UTC', from: from - 1, count: 1 });
    if (skipped === undefined || skipped >= to) continue;
    const isWritten = !schedule.minute.includes('*') && !`${schedule.minute}${schedule.hour}`.includes('/');
    const then = isWritten ? `it then fires at ${clock(to)}` : 'it then does not fire';
    return {
      message: `in ${timezone} the clocks go from ${clock(from)} to ${clock(to)} on one day of the year: ${then}`,
      hint: `choose a time before ${clock(from)} or from ${clock(to)} on, or a zone without clock changes`,
    };
  }
  return null;
}
