/** What the shape of its events says of a route, for the rules about payloads. */
import type { RouteConfig, TargetEffect } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteView } from '../route-scope.ts';
import { checkTemplates } from './check-templates.ts';
import type { FieldClass } from './classify.ts';
import { classify } from './classify.ts';
import { findPath } from './find-path.ts';
import type { FormSet } from './form-set.ts';
import { narrowByFilters } from './narrow.ts';
import { formsOf, pinnedSender } from './route-forms.ts';
import type { Senders } from './senders.ts';

export interface Payloads {
  /** Of all the rules, each of which reports its own. */
  problemsOf(route: RouteView): readonly Problem[];
  /**
   * The forms of events whose payload the route's templates see: what its filters leave. null: not certain, nothing is known
   * of them, or a script may replace the payload.
   */
  seenBy(route: RouteView): FormSet | null;
  /** What a placeholder of the route's templates holds. @param path empty: the whole payload */
  classOf(route: RouteView, path: readonly string[]): FieldClass;
  /** Whether payloads of this event have the path, where the route's source is pinned and its shape knows it. */
  hasPath(route: RouteView, event: string, path: readonly string[]): boolean;
  readonly effects: Effects;
}

/** What runs and deliveries can do. */
export interface Effects {
  /** Whether a run with this toolset changes something outside of its own answer. One that is not known does. */
  acts(toolset: string): boolean;
  /** Events that a delivery makes senders send. @param target canonical name */
  causedBy(target: string): readonly TargetEffect[];
}

export function createPayloads(senders: Senders, effects: Effects): Payloads {
  // By config: it is the same object in every view of a route.
  const known = new WeakMap<RouteConfig, Checked>();
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
  const check = (route: RouteView): Checked => {
    const checked = known.get(route.config) ?? checkRoute(route, formsOnce(route));
    known.set(route.config, checked);
    return checked;
  };
  return {
    problemsOf: (route) => check(route).problems,
    seenBy: (route) => check(route).seen,
    effects,
    classOf: (route, path) => classify(check(route).seen, path),
    hasPath(route, event, path) {
      const set = pinnedSender(route, senders)?.forms() ?? null;
      const forms = set?.shape.variants.filter((form) => form.event === event) ?? [];
      return forms.some(({ root }) => set !== null && findPath(set.shape.graph, root, path).kind === 'node');
    },
  };
}

interface Checked {
  readonly problems: readonly Problem[];
  readonly seen: FormSet | null;
}

function checkRoute({ config }: RouteView, set: FormSet | null): Checked {
  const filters = narrowByFilters(set, config.filters ?? []);
  const found = filters.problems.map((problem) => ({
    ...problem,
    path: ['filters', ...problem.path],
    ...(problem.related === undefined
      ? {}
      : { related: problem.related.map((each) => ({ ...each, path: ['filters', ...each.path] })) }),
  }));
  // A script may replace the payload, and nothing is known of what it makes.
  const seen = config.script === undefined ? filters.set : null;
  return { problems: seen === null ? found : [...found, ...checkTemplates(seen, config)], seen };
}
