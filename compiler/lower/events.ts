/** Lowers a route's `events` list: exact names stay names, globs become regular expressions (§2.1, §6.1). */
import picomatch from 'picomatch';
import type { EventsPlan } from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';

/** An entry with one of these characters is a glob. */
const GLOB = /[*?[{]/;

function globSource(glob: string): string | Error {
  try {
    const regex = picomatch.makeRe(glob, { strictBrackets: true });
    return regex ? regex.source : new Error('is empty');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Problems: `event-glob` (a glob whose brackets do not pair). An empty list accepts every event. */
export function lowerEvents(entries: readonly string[]): Lowered<EventsPlan> {
  const exact = new Set<string>();
  const globs = new Set<string>();
  const problems: Problem[] = [];
  entries.forEach((entry, index) => {
    if (!GLOB.test(entry)) {
      exact.add(entry);
      return;
    }
    const source = globSource(entry);
    if (typeof source === 'string') globs.add(source);
    else {
      const message = `${JSON.stringify(entry)} is not a glob: ${source.message}; pair its brackets, or escape them with \\`;
      problems.push({ rule: 'event-glob', path: [index], at: 'value', message });
    }
  });
  return { plan: problems.length > 0 ? null : { exact: [...exact], globs: [...globs] }, problems };
}
