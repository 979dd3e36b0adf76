/** Times and numbers for people. */

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

/** By the clock of this machine, as the gateway's: a moment ahead counts as now. */
export function ago(at: number): string {
  const ms = Date.now() - at;
  return ms < 1000 ? 'now' : `${duration(ms - (ms % 1000))} ago`;
}

/** `2026-01-05 08:00:00`, by the clock of this machine; of null nothing. @param of Unix ms, or an ISO instant */
export function instant(of: number | string | null | undefined): string {
  if (of === null || of === undefined) return '';
  const at = new Date(of);
  return new Date(at.getTime() - at.getTimezoneOffset() * UNITS.min).toISOString().slice(0, 19).replace('T', ' ');
}

/** The zone of the clock by which pages show times. */
export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1_048_576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`;
}

/** Of an event whose type is not known nothing. */
export const known = (event: string): string => (event === 'unknown' ? '' : event);

export const count = (of: number, noun: string, plural = `${noun}s`): string =>
  `${of.toLocaleString()} ${of === 1 ? noun : plural}`;
