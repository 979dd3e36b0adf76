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
 * Boundaries between seconds, milliseconds, microseconds and nanoseconds: each unit reaches its boundary in the year 5138, and
 * the next one passed it in March 1973.
 */
const BOUNDARY = 100_000_000_000;
const DIGITS = /^\d{1,20}(?:\.\d{1,9})?$/;
/**
 * ISO 8601 with or without separators; without a zone it is in UTC. A date alone is the end of its day. Go and PHP add the name of
 * the zone: `2006-01-02 15:04:05 +0000 UTC`.
 */
const ISO =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d(?:[.,]\d{1,9})?))?\s?(?:([Zz]|UTC|GMT)|([+-]\d\d)(?::?(\d\d))?(?:\s(?:[A-Z]{2,5}|[+-]\d{2,4}))?(?:\sm=[+-][\d.]+)?)?)?$/;
/** RFC 2822, section 3.3. A missing zone is UTC, because `Date` would read the zone of this machine. */
const RFC2822 =
  /^(?:[A-Z][a-z]{2},?\s+)?(\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{4}\s+\d\d:\d\d(?::\d\d)?)\s*([+-]\d{4}|[A-Z]{1,3})?(?:\s*\([^()]*\))?$/;

/** The date of C: `Thu Jan  1 11:58:30 UTC 2026`, as in many senders' texts. */
const CTIME = /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) +(\d{1,2}) ([\d:]{8})( [A-Z]{3}| [+-]\d{4})? (\d{4})$/;

/** Unix ms of a number or text in Unix time of any unit, or of an ISO 8601, RFC 2822, Go or C text; else null. */
function instantOf(value: unknown): number | null {
  if (typeof value === 'string' && !DIGITS.test(value)) return finite(Date.parse(dateText(value.trim())));
  const number = isNumber(value) || typeof value === 'string' ? Number(value) : -1;
  if (number < 0) return null;
  let ms = number * 1000;
  while (ms >= BOUNDARY * 1000) ms /= 1000;
  return finite(ms);
}

/** The text in a form that `Date` reads in the same way on every machine; `?` if it is not an instant. */
function dateText(text: string): string {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, month, day, hour, minute = '00', second = '00', zulu, offset, minutes = '00'] = iso;
    if (hour === undefined) return `${year}-${month}-${day}T23:59:59.999Z`;
    const zone = offset === undefined || zulu !== undefined ? 'Z' : `${offset}:${minutes}`;
    return `${year}-${month}-${day}T${hour}:${minute}:${second.replace(',', '.')}${zone}`;
  }
  const [, date, zone = 'GMT'] = RFC2822.exec(text.replace(CTIME, '$1, $3 $2 $6 $4$5')) ?? [];
  return date === undefined ? '?' : `${date.replaceAll('-', ' ')} ${zone}`;
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
