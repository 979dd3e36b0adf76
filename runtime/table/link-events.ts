/** Links a route's events plan to a predicate over the resolved event type, for the events stage (§2.1, §6.1). */
import { RE2JS } from 're2js';
import type { EventsPlan } from '../../schemas/generated/types.ts';

/** Longest event type that is matched against globs, in UTF-16 units: the time grows with it. Real ones are far shorter. */
const GLOB_LIMIT = 256;

export interface LinkedEvents {
  readonly accepts: (event: string) => boolean;
  /** The entry that accepts an event, as written, exact ones first; null when none does or the route accepts all events. */
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
