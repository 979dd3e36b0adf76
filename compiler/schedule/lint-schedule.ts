/** Finds valid schedules that are probably mistakes: they never fire, have uneven steps, or use a time that clocks skip. */
import type { Schedule } from './parse-schedule.ts';
import { nextRuns } from './parse-schedule.ts';

interface ScheduleComplaint {
  readonly message: string;
  readonly hint: string;
}

/** Early enough that the library's search range includes leap years. */
const EPOCH = 0;

/** Reports a schedule whose date does not exist, such as `30 2 30 2 *`. Returns null if it fires. */
export function neverFires({ text }: Schedule): ScheduleComplaint | null {
  if (nextRuns({ schedule: text, timezone: 'UTC', from: EPOCH, count: 1 }).length > 0) return null;
  return {
    message: `no date matches \`${text}\`: the job never fires`,
    hint: 'set `paused: true` to keep a job from firing',
  };
}

interface Stepped {
  readonly field: keyof Omit<Schedule, 'text'>;
  readonly unit: string;
  /** Number of values in one cycle of the field. */
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

/** Reports steps such as `*\/45`, which means 0 and 45 minutes past each hour, not every 45 minutes. */
export function unevenSteps(schedule: Schedule): readonly ScheduleComplaint[] {
  return STEPPED.flatMap(({ field, unit, values, start }) => {
    const step = Number(/^\*\/(\d+)$/.exec(schedule[field])?.[1] ?? '1');
    // Months differ in length, so no step other than 1 divides all of them.
    if (step === 1 || (field !== 'dayOfMonth' && values % step === 0)) return [];
    const message = `\`${schedule[field]}\` is not every ${step} ${unit}: the count starts again ${start}`;
    return [{ message, hint: `list the values explicitly, or use a step that divides ${values}` }];
  });
}

const clock = (local: number): string => new Date(local).toISOString().slice(11, 16);

/**
 * Reports a time that is skipped when clocks go forward. Ignores schedules that run every hour: they follow elapsed
 * time, and no single run matters.
 * @param timezone a valid IANA zone
 */
export function skippedTime(schedule: Schedule, timezone: string): ScheduleComplaint | null {
  if (schedule.hour.startsWith('*')) return null;
  for (const { from, to } of clockGaps(timezone)) {
    // Interpreted in UTC, the schedule's times are local times, like those of the gap.
    const [skipped] = nextRuns({ schedule: schedule.text, timezone: 'UTC', from: from - 1, count: 1 });
    if (skipped === undefined || skipped >= to) continue;
    const isWritten = !schedule.minute.includes('*') && !`${schedule.minute}${schedule.hour}`.includes('/');
    const then = isWritten ? `a time in between fires at ${clock(to)}` : 'a time in between does not fire';
    return {
      message: `in ${timezone} the clocks go from ${clock(from)} to ${clock(to)} on one day of the year: ${then}`,
      hint: `choose a time before ${clock(from)} or from ${clock(to)} on, or a zone without clock changes`,
    };
  }
  return null;
}

/** Skipped local times, written as Unix ms as if they were UTC: from `from` (inclusive) to `to` (exclusive). */
interface ClockGap {
  readonly from: number;
  readonly to: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The examined period. It is fixed, so that the same config gives the same warnings on any day. Clocks change by the same
 * rules every year; if a zone abolishes its changes, the warning is merely unnecessary.
 */
const FROM = Date.UTC(2026, 0, 1);
const TO = FROM + 2 * 365 * DAY_MS;
/** No zone changes its clocks twice within a week; an offset costs a tenth of a millisecond. */
const WEEK_MS = 7 * DAY_MS;

function createOffset(timezone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  return (instant) => {
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * 60_000);
  };
}

/** @param timezone a valid IANA zone */
export function clockGaps(timezone: string): readonly ClockGap[] {
  const offsetAt = createOffset(timezone);
  const gaps: ClockGap[] = [];
  let before = offsetAt(FROM);
  for (let week = FROM; week < TO; week += WEEK_MS) {
    const end = Math.min(week + WEEK_MS, TO);
    const after = offsetAt(end);
    if (after > before) {
      let [low, high] = [week, end];
      while (high - low > 60_000) {
        const middle = Math.floor((low + high) / 2 / 60_000) * 60_000;
        if (offsetAt(middle) === before) low = middle;
        else high = middle;
      }
      gaps.push({ from: high + before, to: high + after });
    }
    before = after;
  }
  return gaps;
}
