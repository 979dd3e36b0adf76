/** Lowers a route's `events` list: exact names stay names, globs become expressions of linear time (§2.1, §6.1). */
import type { EventsPlan, GlobPlan } from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { globSource } from './event-glob.ts';

/** An entry with one of these characters is a glob. */
const GLOB = /[*?[{]/;

export const isGlob = (entry: string): boolean => GLOB.test(entry);

/** Problems: `event-glob` (a glob that cannot be read, or not be matched in linear time). An empty list accepts every event. */
export function lowerEvents(entries: readonly string[]): Lowered<EventsPlan> {
  const exact = new Set<string>();
  const globs = new Map<string, GlobPlan>();
  const problems: Problem[] = [];
  entries.forEach((entry, index) => {
    if (!isGlob(entry)) {
      exact.add(entry);
      return;
    }
    const source = globSource(entry);
    if (typeof source === 'string') globs.set(source, { text: entry, source });
    else {
      const message = `${JSON.stringify(entry)} is no glob that can be used here: ${source.message}`;
      problems.push({ rule: 'event-glob', path: [index], at: 'value', message });
    }
  });
  return { plan: problems.length > 0 ? null : { exact: [...exact], globs: [...globs.values()] }, problems };
}
