/** What the shape of its events says of a route, for the rules about payloads. */
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteView } from '../route-scope.ts';
import { checkTemplates } from './check-templates.ts';
import type { FormSet } from './form-set.ts';
import { narrowByFilters } from './narrow.ts';
import { formsOf } from './route-forms.ts';
import type { Senders } from './senders.ts';
import { isTrustedField } from './trusted-field.ts';

export interface Payloads {
  /** Of all the rules, each of which reports its own. */
  problemsOf(route: RouteView): readonly Problem[];
  /** Whether no outsider can have written what stands at a path of the payload; false where that is not known. */
  isTrusted(route: RouteView, path: readonly string[]): boolean;
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
    isTrusted(route, path) {
      const { filters, script } = route.config;
      const set = script === undefined ? narrowByFilters(formsOnce(route), filters ?? []).set : null;
      return set !== null && isTrustedField(set, path);
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
