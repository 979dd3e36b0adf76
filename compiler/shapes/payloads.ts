/** What the shape of its events says of a route, for the rules about payloads. */
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteView } from '../route-scope.ts';
import { checkTemplates } from './check-templates.ts';
import { findPath } from './find-path.ts';
import type { FormSet } from './form-set.ts';
import { narrowByFilters } from './narrow.ts';
import { formsOf, pinnedSender } from './route-forms.ts';
import type { Senders } from './senders.ts';

export interface Payloads {
  /** Of all the rules, each of which reports its own. */
  problemsOf(route: RouteView): readonly Problem[];
  /** Whether payloads of this event have the path, where the route's source is pinned and its shape knows it. */
  hasPath(route: RouteView, event: string, path: readonly string[]): boolean;
}

export function createPayloads(senders: Senders): Payloads {
  const known = new WeakMap<RouteView, readonly Problem[]>();
  const sets = new Map<string, FormSet | null>();
  const formsOnce = (route: RouteView): FormSet | null => {
    // What they depend on.
    const { source, events, auth } = route.config;
    const key = JSON.stringify([source, events, auth]);
    const before = sets.get(key);
    const set = before === undefined ? formsOf(route, senders) : before;
    sets.set(key, set);
    return set;
  };
  return {
    problemsOf(route) {
      const problems = known.get(route) ?? checkRoute(route, formsOnce(route));
      known.set(route, problems);
      return problems;
    },
    hasPath(route, event, path) {
      const set = pinnedSender(route, senders)?.forms() ?? null;
      const forms = set?.shape.variants.filter((form) => form.event === event) ?? [];
      return forms.some(({ root }) => set !== null && findPath(set.shape.graph, root, path).kind === 'node');
    },
  };
}

function checkRoute({ config }: RouteView, set: FormSet | null): readonly Problem[] {
  const filters = narrowByFilters(set, config.filters ?? []);
  const found = filters.problems.map((problem) => ({
    ...problem,
    path: ['filters', ...problem.path],
    ...(problem.related === undefined
      ? {}
      : { related: problem.related.map((each) => ({ ...each, path: ['filters', ...each.path] })) }),
  }));
  // A script may replace the payload, and nothing is known of what it makes.
  const isReplaced = config.script !== undefined;
  return filters.set === null || isReplaced ? found : [...found, ...checkTemplates(filters.set, config)];
}
