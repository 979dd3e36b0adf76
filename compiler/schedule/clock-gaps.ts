/** Finds the local times that a time zone skips when clocks go forward, to warn about schedules that use them. */

/** Skipped local times, written as Unix ms as if they were UTC: from `from` (inclusive) to `to` (exclusive). */
export interface ClockGap {
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
const DAYS = 2 * 365;

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
  for (let day = FROM; day < FROM + DAYS * DAY_MS; day += DAY_MS) {
    const after = offsetAt(day + DAY_MS);
    if (after > before) {
      let [low, high] = [day, day + DAY_MS];
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
