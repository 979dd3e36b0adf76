/** Checks and lowers one route against a table: static routes and subscriptions. */
import type { RoutePlan } from '../schemas/generated/types.ts';
import type { Lowered, Problem } from './diagnostics/problem.ts';
import { lowerRoute } from './routes/lower-route.ts';
import { RULES } from './rules/registry.ts';
import type { RouteEntry, RouteScope } from './views/route-scope.ts';
import { viewRoute } from './views/route-scope.ts';

/** Pure. The plan is null if any problem is an error. Paths of problems are relative to the route. */
export function compileRoute(entry: RouteEntry, scope: RouteScope): Lowered<RoutePlan> {
  const view = viewRoute(entry, scope);
  const lowered = lowerRoute(view, entry.at);
  const problems = [...RULES.flatMap((rule) => rule.checkRoute?.(view) ?? []), ...lowered.problems];
  return { plan: hasError(problems) ? null : lowered.plan, problems };
}

const hasError = (problems: readonly Problem[]): boolean => problems.some(({ rule }) => rule.severity === 'error');
