/** Checks and lowers one route against a table: static routes and subscriptions. */
import type { RoutePlan } from '../schemas/generated/types.ts';
import type { Lowered } from './diagnostics/problem.ts';
import { isError } from './diagnostics/rule.ts';
import { lowerRoute } from './routes/lower-route.ts';
import { applyRules } from './rules/support/rule.ts';
import { viewRoute } from './views/view-route.ts';
import type { RouteEntry, RouteScope } from './views/views.ts';

/** Pure. The plan is null if any problem is an error. Paths of problems are relative to the route. */
export function compileRoute(entry: RouteEntry, scope: RouteScope): Lowered<RoutePlan> {
  const view = viewRoute(entry, scope);
  const lowered = lowerRoute(view, entry.at);
  const problems = [...applyRules(scope.rules, 'route', view), ...lowered.problems];
  return { plan: problems.some(isError) ? null : lowered.plan, problems };
}
