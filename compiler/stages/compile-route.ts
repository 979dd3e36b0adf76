/** Checks and lowers routes against a table, and checks the agents that run their prompts. */
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import { writtenAgents } from '../config/agents.ts';
import type { WrittenRoute } from '../config/webhook-settings.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { isError } from '../diagnostics/rule.ts';
import { lowerRoute } from '../lower/route.ts';
import { applyRules } from '../rules/support/rule.ts';
import type { Places } from '../source/file-tree.ts';
import type { Placer } from '../source/placer.ts';
import type { Report } from '../source/report.ts';
import { runningAgent } from '../views/running-agent.ts';
import { viewRoute } from '../views/view-route.ts';
import type { RouteEntry, RouteScope, RouteView } from '../views/views.ts';
import type { CheckedProfile } from './check-config.ts';
import { checkOutputs } from './check-outputs.ts';

/** One static route or subscription. Pure. The plan is null if any problem is an error. Paths of problems are relative to the route. */
export function compileRoute(entry: RouteEntry, scope: RouteScope): Lowered<RoutePlan> {
  const view = viewRoute(entry, scope);
  const lowered = lowerRoute(view, entry.at);
  const problems = [...applyRules(scope.rules, 'route', view), ...checkOutputs(view), ...lowered.problems];
  return { plan: problems.some(isError) ? null : lowered.plan, problems };
}

export interface RouteContext {
  readonly scope: RouteScope;
  readonly tree: Places;
  readonly placer: Placer;
}

/** Returns the plans by name. Routes with errors have no plan. */
export function compileRoutes(
  routes: readonly WrittenRoute[],
  { scope, tree, placer }: RouteContext,
  report: Report,
): Record<string, RoutePlan> {
  const plans = routes.flatMap(({ name, config, path }): readonly (readonly [string, RoutePlan])[] => {
    const { plan, problems } = compileRoute({ name, config, at: placer.placeOf(tree, path) }, scope);
    const isDoubtful = scope.invalidNames.has(`route:${name}`);
    report.addProblems(
      isDoubtful ? problems.filter((problem) => !isAboutWhatIsMissing(problem)) : problems,
      tree,
      path,
    );
    return plan === null ? [] : [[name, plan]];
  });
  return Object.fromEntries(plans);
}

/** Keys and addresses. */
const isAboutWhatIsMissing = ({ rule, at, path }: Problem): boolean =>
  rule === 'missing-address' || (at === 'key' && path.length === 0);

type NamedRoute = Pick<WrittenRoute, 'name' | 'config'>;

export interface AgentChecks {
  readonly profiles: readonly CheckedProfile[];
  /** Static and dynamic. */
  readonly routes: readonly NamedRoute[];
  readonly scope: RouteScope;
}

/** Checks each agent together with the routes whose prompts it runs. */
export function checkAgents({ profiles, routes, scope }: AgentChecks, report: Report): void {
  for (const { name, config, tree } of profiles) {
    for (const agent of writtenAgents(config)) {
      const view = { name, agent, routes: () => routesOf(name, agent.name, routes, scope) };
      report.addProblems(applyRules(scope.rules, 'agent', view), tree);
    }
  }
}

/** Lazy, because a rule may stop early. */
function* routesOf(
  profile: string,
  agent: string | null,
  routes: readonly NamedRoute[],
  scope: RouteScope,
): Iterable<RouteView> {
  // Agent rules do not use the position of a route.
  const at = { file: '', line: 0 };
  for (const { name, config } of routes) {
    if ((config.profile ?? DEFAULT_PROFILE) !== profile) continue;
    const view = viewRoute({ name, config, at }, scope);
    if (runningAgent(view) === agent) yield view;
  }
}
