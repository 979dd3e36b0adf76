/** Checks and lowers routes and jobs against a table, and checks the agents that run their prompts. */
import type { JobPlan, OutputConfig, RoutePlan } from '../../schemas/generated/types.ts';
import { writtenAgents } from '../config/agents.ts';
import { deliveryOf, namedTargets, OWN_KEYS, outputPath } from '../config/route-keys.ts';
import type { WrittenRoute } from '../config/settings.ts';
import type { WrittenText } from '../config/written-numbers.ts';
import type { Lowered, Problem } from '../diagnostics/diagnostic.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { isError } from '../diagnostics/rule.ts';
import type { JobEntry } from '../lower/job.ts';
import { lowerJob } from '../lower/job.ts';
import { lowerRoute } from '../lower/route.ts';
import { applyRules } from '../rules/support/rule.ts';
import type { Placer, Places, Report } from '../source/find-place.ts';
import { certainMatch } from '../text/suggest.ts';
import { viewRoute } from '../views/view-route.ts';
import type { JobView, RouteEntry, RouteScope, RouteView } from '../views/views.ts';
import { runningAgent } from '../views/views.ts';
import type { CheckedProfile } from './check-config.ts';

/** One static route or subscription. Pure. The plan is null if any problem is an error. Paths of problems are relative to the route. */
export function compileRoute(entry: RouteEntry, scope: RouteScope): Lowered<RoutePlan> {
  const view = viewRoute(entry, scope);
  const lowered = lowerRoute(view, entry);
  const problems = [...applyRules(scope.rules, 'route', view), ...checkOutputs(view), ...lowered.problems];
  return { plan: problems.some(isError) ? null : lowered.plan, problems };
}

/** Returns the plans by name. Routes with errors have no plan. */
export function compileRoutes(
  routes: readonly WrittenRoute[],
  { scope, tree, placer }: { readonly scope: RouteScope; readonly tree: Places; readonly placer: Placer },
  report: Report,
): Record<string, RoutePlan> {
  const plans = routes.flatMap(({ name, config, path }): readonly (readonly [string, RoutePlan])[] => {
    const written: WrittenText = (below) => tree.place([...path, ...below]).plain;
    const { plan, problems } = compileRoute({ name, config, at: placer.placeOf(tree, path), written }, scope);
    const isDoubtful = scope.invalidNames.has(`route:${name}`);
    report.addProblems(isDoubtful ? problems.filter((problem) => !isMissingKey(problem)) : problems, tree, path);
    return plan === null ? [] : [[name, plan]];
  });
  return Object.fromEntries(plans);
}

/** Whether the problem is a missing key or address. */
const isMissingKey = ({ rule, at, path }: Problem): boolean =>
  rule === 'missing-address' || (at === 'key' && path.length === 0);

type NamedRoute = Pick<WrittenRoute, 'name' | 'config'>;

interface AgentChecks {
  readonly profiles: readonly CheckedProfile[];
  /** Static and dynamic. */
  readonly routes: readonly NamedRoute[];
  readonly scope: RouteScope;
}

/** Checks each agent together with the routes whose prompts it runs. */
export function checkAgents({ profiles, routes, scope }: AgentChecks, report: Report): void {
  for (const { name, config, tree } of profiles) {
    for (const agent of writtenAgents(config)) {
      const allRoutes = () => viewsOf(routes, scope);
      const view = { name, agent, scope, allRoutes, routes: () => routesOf(name, agent.name, allRoutes()) };
      report.addProblems(applyRules(scope.rules, 'agent', view), tree);
    }
  }
}

/** Lazy, because a rule may stop early. */
function* viewsOf(routes: readonly NamedRoute[], scope: RouteScope): Iterable<RouteView> {
  for (const route of routes) yield viewRoute(route, scope);
}

function* routesOf(profile: string, agent: string | null, routes: Iterable<RouteView>): Iterable<RouteView> {
  for (const view of routes) if (view.profile === profile && runningAgent(view) === agent) yield view;
}

/** Pure. The plan is null if any problem is an error. Paths of problems are relative to the job. */
export function compileJob(entry: JobEntry, scope: RouteScope): Lowered<JobPlan> {
  const { name, config, profile } = entry;
  const lowered = lowerJob(entry, scope.table);
  const view = { name, config, profile, scope };
  const problems = [...applyRules(scope.rules, 'job', view), ...checkOutputs(view), ...lowered.problems];
  return { plan: problems.some(isError) ? null : lowered.plan, problems };
}

const DELIVERY_RULES: ReadonlySet<RuleId> = new Set([
  'unknown-target',
  'target-not-enabled',
  'missing-address',
  'address-form',
  'unknown-deliver-extra',
  'missing-deliver-extra',
  'self-trigger',
]);

/** A misspelt `allow` or `max` would be treated as an address, and the output would have no limit. */
function misspelt({ rule, path }: Pick<Problem, 'rule' | 'path'>, output: OutputConfig): Partial<Problem> {
  const key = String(path.at(-1));
  const meant = rule === 'unknown-deliver-extra' ? certainMatch(key, OWN_KEYS) : null;
  if (meant === null) return {};
  const message = `unknown key \`${key}\`; did you mean \`${meant}\`?`;
  const fix = { kind: 'rename', text: meant } as const;
  return { rule: 'unknown-key', message, hint: undefined, ...(Object.hasOwn(output, meant) ? {} : { fix }) };
}

/** Paths of problems are relative to the route or job. */
function checkOutputs(view: RouteView | JobView): readonly Problem[] {
  const { scope } = view;
  // `on_failure` is checked once, with its route or job.
  const { on_failure: _, ...config } = view.config;
  const rules = scope.rules.filter(({ id }) => DELIVERY_RULES.has(id));
  return Object.entries(view.config.outputs ?? {}).flatMap(([name, output]) => {
    const delivery = deliveryOf(output);
    const targets = namedTargets(delivery.deliver, scope.table.target_names);
    const found =
      'mode' in view
        ? applyRules(rules, 'route', {
            ...view,
            config: { ...config, ...delivery } as RouteView['config'],
            targets,
          })
        : applyRules(rules, 'job', { ...view, config: { ...config, ...delivery } as JobView['config'] });
    // A fix would write into `deliver_extra`.
    return found.map(({ fix, fixAt, message, ...problem }) => ({
      ...problem,
      message: message.replaceAll('deliver_extra.', ''),
      ...misspelt(problem, output),
      path: outputPath(name, problem.path),
    }));
  });
}
