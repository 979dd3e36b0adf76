/** Describes a cron expression in words, for the catalog and for lists of jobs. */
import { parseSchedule } from './parse-schedule.ts';

const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** Day-of-week fields that have names. */
const DAY_GROUPS: Readonly<Record<string, string>> = { '*': 'daily', '1-5': 'weekdays', '0,6': 'weekends' };

const NUMBER = /^\d{1,2}$/;
const STEP = /^\*\/(\d{1,2})$/;
const HOUR_WINDOW = /^(?:\*|\d{1,2}-\d{1,2})(?:\/(\d{1,2}))?$/;

const pad = (digits: string): string => digits.padStart(2, '0');

function every(count: number, unit: string): string {
  return count === 1 ? `every ${unit}` : `every ${count} ${unit}s`;
}

/** `sunday`, `weekdays`, `monday, wednesday`; null if there is no short form (`1#2`). */
function describeDays(dayOfWeek: string): string | null {
  const group = Object.hasOwn(DAY_GROUPS, dayOfWeek) ? DAY_GROUPS[dayOfWeek] : undefined;
  if (group !== undefined) return group;
  const days = dayOfWeek.split(',');
  return days.every((day) => /^[0-7]$/.test(day)) ? days.map((day) => DAY_NAMES[Number(day)]).join(', ') : null;
}

/** `every 30 minutes`, `every 2 hours`; null if the times are not evenly spaced or not an interval. */
function describeInterval(minute: string, hour: string): string | null {
  if (minute === '*' && hour === '*') return every(1, 'minute');
  const step = Number(STEP.exec(minute)?.[1]);
  if (hour === '*' && 60 % step === 0) return step === 60 ? every(1, 'hour') : every(step, 'minute');
  const window = HOUR_WINDOW.exec(hour);
  if (window === null || !NUMBER.test(minute)) return null;
  const hours = Number(window[1] ?? '1');
  if (hour.startsWith('*') && 24 % hours !== 0) return null;
  return every(hours, 'hour') + (Number(minute) === 0 ? '' : ` at :${pad(minute)}`);
}

/**
 * @param days name of the day-of-week field if it was chosen by name (`everyday`, `sunday`)
 * @returns `sunday at 18:00`, `every 30 minutes`, `weekdays, every hour`; the expression itself if there is no short form
 */
export function describeSchedule(text: string, days?: string): string {
  const parsed = parseSchedule(text);
  if (!parsed.ok) return text;
  const { minute, hour, dayOfMonth, month, dayOfWeek, text: clean } = parsed.schedule;
  if (month !== '*') return clean;
  const dayWords = days ?? describeDays(dayOfWeek);
  if (NUMBER.test(minute) && NUMBER.test(hour)) {
    const time = `${pad(hour)}:${pad(minute)}`;
    if (dayOfMonth === '*') return dayWords === null ? clean : `${dayWords} at ${time}`;
    return NUMBER.test(dayOfMonth) && dayOfWeek === '*' ? `monthly on day ${dayOfMonth} at ${time}` : clean;
  }
  const interval = dayOfMonth === '*' ? describeInterval(minute, hour) : null;
  if (interval === null || dayWords === null) return clean;
  return dayOfWeek === '*' ? interval : `${dayWords}, ${interval}`;
}
