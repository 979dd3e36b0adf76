/** The local times of a zone, computed without the library under test, from the offsets that Intl reports. */

const DAY_MS = 86_400_000;

/** An offset and the unix ms since which it applies. */
interface Span {
  readonly from: number;
  readonly offset_ms: number;
}

export interface ZoneRules {
  /** The local wall-clock time at an instant, as if it were UTC. */
  local(instant: number): number;
  /**
   * The instant at which a written local time occurs: the first of two when the clocks go back, the first moment after
   * the gap when they go forward over it.
   */
  instantOf(local: number): number;
}

function offsetAt(format: Intl.DateTimeFormat, instant: number): number {
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
}

/** @param from unix ms @param to unix ms */
export function zoneRules(zone: string, from: number, to: number): ZoneRules {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const spans: Span[] = [{ from: Number.NEGATIVE_INFINITY, offset_ms: offsetAt(format, from - 3 * DAY_MS) }];
  for (let at = from - 3 * DAY_MS; at < to + 3 * DAY_MS; at += DAY_MS) {
    const before = offsetAt(format, at);
    const after = offsetAt(format, at + DAY_MS);
    if (before === after) continue;
    let [low, high] = [at, at + DAY_MS];
    while (high - low > 60_000) {
      const middle = Math.floor((low + high) / 2 / 60_000) * 60_000;
      if (offsetAt(format, middle) === before) low = middle;
      else high = middle;
    }
    spans.push({ from: high, offset_ms: after });
  }
  const spanAt = (instant: number): Span => spans.findLast((span) => span.from <= instant) ?? { from: 0, offset_ms: 0 };
  return {
    local: (instant) => instant + spanAt(instant).offset_ms,
    instantOf(local) {
      const found = spans
        .map(({ offset_ms }) => local - offset_ms)
        .filter((instant) => instant + spanAt(instant).offset_ms === local);
      if (found.length > 0) return Math.min(...found);
      // In a gap: the moment the new offset begins.
      return spans.find((span, index) => index > 0 && span.from + span.offset_ms > local)?.from ?? Number.NaN;
    },
  };
}
