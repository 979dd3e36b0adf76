/** Links the maximum age of a route's events (decisions §4, age). */
import type { MaxAgePlan } from '../../schemas/generated/types.ts';
import type { FilterSubject } from './link-filter.ts';
import { linkField } from './link-filter.ts';

export interface LinkedMaxAge {
  readonly maxMs: number;
  /** The event's age in ms at `now` (Unix ms); null without a time, negative for one ahead. */
  readonly ageOf: (subject: FilterSubject, now: number) => number | null;
}

export function linkMaxAge({ seconds, time }: MaxAgePlan): LinkedMaxAge {
  const read = linkField(time);
  return {
    maxMs: seconds * 1000,
    ageOf: (subject, now) => {
      const instant = instantOf(read(subject));
      return instant === null ? null : now - instant;
    },
  };
}

/** Unix seconds reach this in the year 5138, and milliseconds passed it in March 1973. */
const FIRST_MILLISECONDS = 100_000_000_000;
const DIGITS = /^\d{1,15}(?:\.\d{1,9})?$/;
/** A date without a zone would be read in the zone of this machine. */
const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)$/;

/** Unix ms of a number or text in Unix seconds or milliseconds, or of an ISO 8601 text with a zone; else null. */
function instantOf(value: unknown): number | null {
  if (typeof value === 'string' && ISO.test(value)) return finite(Date.parse(value));
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || number < 0) return null;
  return finite(number < FIRST_MILLISECONDS ? number * 1000 : number);
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
