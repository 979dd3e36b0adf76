/** Formats instants: day, date and time in a zone, with the zone's offset at that instant. */

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
