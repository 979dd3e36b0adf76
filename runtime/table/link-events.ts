/**
 * Links the checks that need only the event: the events list of a route (§2.1, §6.1) and the maximum age of its events
 * (decisions §4).
 */
import { RE2JS } from 're2js';
import { isNumber } from '../../base/exact-number.ts';
import type { EventsPlan, MaxAgePlan } from '../../schemas/generated/types.ts';
import type { FilterSubject } from './link-filter.ts';
import { linkField } from './link-filter.ts';

/**
 * Maximum length of an event type that is matched against globs, in UTF-16 units, because the time grows with it. Real ones are
 * far shorter.
 */
const GLOB_LIMIT = 256;

/** Links a route's events plan to a predicate over the resolved event type, for the events stage (§2.1, §6.1). */
export interface LinkedEvents {
  readonly accepts: (event: string) => boolean;
  /** The entry that accepts an event, as written, exact ones first; null if none does or the route accepts all events. */
  readonly entryFor: (event: string) => string | null;
}

const ANY_EVENT: LinkedEvents = { accepts: () => true, entryFor: () => null };

/** Links the `events` of a route; null or an empty plan accepts every event. */
export function linkEvents(plan: EventsPlan | null): LinkedEvents {
  if (plan === null || plan.exact.length + plan.globs.length === 0) return ANY_EVENT;
  const exact = new Map([...Object.entries(plan.names ?? {}), ...plan.exact.map((name) => [name, name] as const)]);
  const globs = plan.globs.map(({ text, source }) => ({ text, regex: RE2JS.compile(source) }));
  const globFor = (event: string): string | null =>
    event.length > GLOB_LIMIT ? null : (globs.find(({ regex }) => regex.test(event))?.text ?? null);
  return {
    accepts: globs.length === 0 ? (event) => exact.has(event) : (event) => exact.has(event) || globFor(event) !== null,
    entryFor: (event) => exact.get(event) ?? globFor(event),
  };
}

/** The entries of a route, as written. */
export const eventEntries = ({ exact, globs }: EventsPlan): string[] => [...exact, ...globs.map(({ text }) => text)];

/** Links the maximum age of a route's events (decisions §4, age). */
export interface LinkedMaxAge {
  readonly maxMs: number;
  /** The event's age in ms at `now` (Unix ms); null without a time, negative for a time in the future. */
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

/**
 * Boundary between seconds and milliseconds: Unix seconds reach it in the year 5138, and milliseconds passed it in March 1973.
 */
const FIRST_MILLISECONDS = 100_000_000_000;
const DIGITS = /^\d{1,15}(?:\.\d{1,9})?$/;
/** A date without a zone would be read in the zone of this machine. */
const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)$/;

/** Unix ms of a number or text in Unix seconds or milliseconds, or of an ISO 8601 text with a zone; else null. */
function instantOf(value: unknown): number | null {
  if (typeof value === 'string' && ISO.test(value)) return finite(Date.parse(value));
  const number = isNumber(value) || (typeof value === 'string' && DIGITS.test(value)) ? Number(value) : -1;
  if (number < 0) return null;
  return finite(number < FIRST_MILLISECONDS ? number * 1000 : number);
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
