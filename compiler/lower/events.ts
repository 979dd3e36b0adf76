/** Lowers a route's `events` list: exact names are kept, globs become linear-time expressions (§2.1, §6.1). */
import type { EventsPlan, GlobPlan } from '../../schemas/generated/types.ts';
import type { SenderEventNames } from '../config/event-names.ts';
import { isEventGlob } from '../config/event-names.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { globSource, linkGlob } from '../globs/linear-glob.ts';

/** An empty list accepts every event. Reports `event-glob` for globs that are invalid or cannot be matched in linear time. */
export function lowerEvents(entries: readonly string[], names: SenderEventNames = {}): Lowered<EventsPlan> {
  const exact = new Set<string>();
  const globs = new Map<string, GlobPlan>();
  const problems: Problem[] = [];
  entries.forEach((entry, index) => {
    if (!isEventGlob(entry)) {
      exact.add(entry);
      return;
    }
    const source = globSource(entry);
    if (typeof source === 'string') {
      globs.set(source, { text: entry, source });
      return;
    }
    const message = `${JSON.stringify(entry)} is not a supported glob: ${source.message}`;
    problems.push({ rule: 'event-glob', path: [index], at: 'value', message });
  });
  if (problems.length > 0) return { plan: null, problems };
  const plan: EventsPlan = { exact: [...exact], globs: [...globs.values()] };
  return { plan: { ...plan, ...furtherNames(plan, names) }, problems };
}

/** Events that are sent under one name and accepted under an alternative name. */
function furtherNames({ exact, globs }: EventsPlan, names: SenderEventNames): Pick<EventsPlan, 'names'> {
  const linked = globs.map(({ text, source }) => ({ text, passes: linkGlob(source) }));
  const entryFor = (name: string): string | undefined =>
    exact.includes(name) ? name : linked.find(({ passes }) => passes(name))?.text;
  const taken = Object.entries(names).flatMap(([sent, further]): [string, string][] => {
    const entry = further.map(entryFor).find((found) => found !== undefined);
    return entry === undefined ? [] : [[sent, entry]];
  });
  return taken.length === 0 ? {} : { names: Object.fromEntries(taken) };
}
