/** The hour or day of a time zone that an instant belongs to. */
import type { BudgetPlan } from '../../../schemas/generated/types.ts';

export interface Window {
  /** Unix ms, and the end. */
  readonly since: number;
  readonly until: number;
}

const HOUR = 3_600_000;
/** Longer than any day. */
const DAY_AT_MOST = 27 * HOUR;

/** Returns a function that computes windows, and the same one for instants within it. */
export function createWindows(timeZone: string): (per: BudgetPlan['per'], now: number) => Window {
  const known = new Map<BudgetPlan['per'], Window>();
  const local = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const partsOf = (at: number): Readonly<Record<string, number>> =>
    Object.fromEntries(local.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const dayOf = (at: number): string => {
    const { year, month, day } = partsOf(at);
    return `${year}-${month}-${day}`;
  };
  const hour = (now: number): Window => {
    const { minute = 0, second = 0 } = partsOf(now);
    const since = Math.floor(now / 1000) * 1000 - minute * 60_000 - second * 1000;
    return { since, until: since + HOUR };
  };
  // A day has 24 hours, or some more or fewer where the clocks are changed.
  const day = (now: number): Window => {
    const today = dayOf(now);
    const isToday = (at: number): boolean => dayOf(at) === today;
    return {
      since: boundary(now - DAY_AT_MOST, now, isToday),
      until: boundary(now, now + DAY_AT_MOST, (at) => !isToday(at)),
    };
  };
  const compute = { hour, day };
  return (per, now) => {
    const last = known.get(per);
    if (last !== undefined && now >= last.since && now < last.until) return last;
    const window = compute[per](now);
    known.set(per, window);
    return window;
  };
}

/** The first ms at which `holds`, which it does at `to` and not at `from`. */
function boundary(from: number, to: number, holds: (at: number) => boolean): number {
  let [before, after] = [Math.floor(from), Math.floor(to)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (holds(middle)) after = middle;
    else before = middle;
  }
  return after;
}
