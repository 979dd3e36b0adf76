/** The hours that a zone's clocks skip when they go forward, for warning of schedules that name them. */

/** Local times, as if they were UTC, in unix ms: none of them from `from` up to `to` is ever shown. */
export interface ClockGap {
  readonly from: number;
  readonly to: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The days that are examined. They are fixed, so that the same config gives the same warnings on any day; clocks change
 * on the same Sundays of every year, and a zone that gives its changes up is only warned of in vain.
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

/** @param timezone IANA zone, valid. */
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
