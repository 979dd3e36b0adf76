/** Links a route's events plan to a predicate over the resolved event type, for the events stage (§2.1, §6.1). */
import { RE2JS } from 're2js';
import type { EventsPlan } from '../../schemas/generated/types.ts';

/** Longest event type tried against globs, in UTF-16 units: the time grows with it. No sender's event types come near it. */
const GLOB_LIMIT = 256;

export interface LinkedEvents {
  readonly accepts: (event: string) => boolean;
  /** The entry that accepts an event, as written: an exact one first. Null: none does, or the route takes every event. */
  readonly entryFor: (event: string) => string | null;
}

const ANY_EVENT: LinkedEvents = { accepts: () => true, entryFor: () => null };

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
