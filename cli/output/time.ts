/** Formats instants and spans of time. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `2 h 5 min`, `40 s`: the two largest units. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, ms);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}

/** `16 ms`, `1.4 s`, from a minute on as above; nothing for null. */
export function formatRunTime(ms: number | null): string {
  if (ms === null) return '';
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms);
}

/** `Mon 2026-01-05 08:00 UTC+1`; 24-hour, the same in every locale. */
export function formatInstant(ms: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'shortOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const { weekday, year, month, day, hour, minute, timeZoneName = '' } = parts;
  const offset = timeZoneName.replace(/^GMT(?:\+0$)?/, 'UTC');
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute} ${offset}`;
}

/** Unix ms at which a pause of `ms` ends that begins now; null for one without an end. */
export const pausedUntil = (ms: number | undefined, now: number): number | null =>
  ms === undefined ? null : Math.round(now + ms);

/** `paused until …`, `paused`, `resumed`. */
export function describePause(paused: boolean, until: number | null): string {
  if (!paused) return 'resumed';
  return until === null ? 'paused' : `paused until ${new Date(until).toISOString()}`;
}
