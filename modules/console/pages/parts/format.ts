/** Formats times and numbers for people. */
import type { Output } from '../api.ts';

const UNITS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1000 };

/** `2 h 5 min`, `40 s`, `120 ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(Math.max(0, ms))} ms`;
  let left = ms;
  const parts = Object.entries(UNITS).map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count > 0 ? [`${count} ${unit}`] : [];
  });
  return parts.flat().slice(0, 2).join(' ');
}

/** Uses the clock of the browser; a time slightly in the future counts as now. */
export function ago(at: number): string {
  const ms = Date.now() - at;
  return ms < 1000 ? 'now' : `${duration(ms - (ms % 1000)).replace(/^(\S+ \S+) .*/, '$1')} ago`;
}

/** `2026-01-05 08:00 UTC`, or with seconds; empty for null. @param of Unix ms, or an ISO instant */
export function instant(of: number | string | null | undefined, precision: 'minute' | 'second' = 'minute'): string {
  if (of === null || of === undefined) return '';
  return `${new Date(of)
    .toISOString()
    .slice(0, precision === 'minute' ? 16 : 19)
    .replace('T', ' ')} UTC`;
}

/** `04 Jan 08:00`, in UTC: always as wide, so that times in a column are below each other. */
export const shortInstant = (of: number): string =>
  new Date(of).toUTCString().replace(/^\w+, (\d+ \w+) \d+ (\d+:\d+).*$/, '$1 $2');

/** `Mon 2026-01-05 09:00` in a time zone; as `instant` if the browser does not know the zone. @param of Unix ms, or an ISO instant */
export function inZone(of: number | string, timeZone: string): string {
  try {
    const day = new Date(of).toLocaleDateString('en-GB', { weekday: 'short', timeZone });
    return `${day} ${new Date(of).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone })}`;
  } catch {
    return instant(of);
  }
}

/** `Mon 05 Jan 09:00` in a time zone: as `inZone`, for lists. */
export const shortInZone = (of: number | string, timeZone: string): string =>
  inZone(of, timeZone).replace(/\d{4}-\S+/, (day) => shortInstant(Date.parse(day)).slice(0, 6));

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1_048_576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`;
}

/** @param otherwise for an event of unknown type */
export const known = (event: string, otherwise = ''): string =>
  event === 'unknown' || event === '' ? otherwise : event;

export const count = (of: number, noun: string, plural = `${noun}s`): string =>
  `${of.toLocaleString()} ${of === 1 ? noun : plural}`;

/** A text that names people of the console: `approved by ben (console)`. */
export const people = (text: string): string => text.replace(/\bconsole:(\S+)/g, '$1 (console)');

/** `weekdays at 07:45`, `Sunday at 18:00`, `every day at 14:00`. */
export const scheduleText = (words: string): string =>
  words.replace(/everyday|daily/, 'every day').replace(/\b[a-z]+day\b/g, upper);

export const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

type Parent = Pick<Output<'getDelivery'>, 'route' | 'job' | 'job_name'>;

/** The route or the job of a delivery; messages of the gateway itself have neither. */
export const parentOf = ({ route, job, job_name }: Parent): string => route ?? job_name ?? job ?? 'gateway';

/** Who has last paused, resumed or reset something, and when. */
export const actionText = (of: Output<'getJob'>['last_action']): string =>
  of === null ? '' : `${of.did}${of.by === undefined ? '' : ` by ${people(of.by)}`}, ${instant(of.at)}`;
