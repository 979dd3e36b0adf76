/** Links a route's events plan to a predicate over the resolved event type, for the events stage (§2.1, §6.1). */
import { RE2JS } from 're2js';
import type { EventsPlan } from '../../schemas/generated/types.ts';

/** Longest event type tried against globs, in UTF-16 units: the time grows with it. No sender's event types come near it. */
const GLOB_LIMIT = 256;

export function linkEvents(plan: EventsPlan | null): (event: string) => boolean {
  if (plan === null || plan.exact.length + plan.globs.length === 0) return () => true;
  const exact = new Set(plan.exact);
  if (plan.globs.length === 0) return (event) => exact.has(event);
  const globs = plan.globs.map((source) => RE2JS.compile(source));
  return (event) => exact.has(event) || (event.length <= GLOB_LIMIT && globs.some((glob) => glob.test(event)));
}
