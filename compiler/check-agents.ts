/** Checks the agents against the routes whose prompts they run: what no route alone can be blamed for. */

import { DEFAULT_PROFILE } from '../base/profiles.ts';
import type { WrittenRoute } from './config/webhook-settings.ts';
import type { CheckedProfile } from './lower-base.ts';
import type { Report } from './report.ts';
import { RULES } from './rules/registry.ts';
import type { RouteScope, RouteView } from './views/route-scope.ts';
import { viewRoute } from './views/route-scope.ts';

export interface AgentChecks {
  readonly profiles: readonly CheckedProfile[];
  readonly routes: readonly WrittenRoute[];
  readonly scope: RouteScope;
}

export function checkAgents({ profiles, routes, scope }: AgentChecks, report: Report): void {
  for (const { name, config, tree } of profiles) {
    const view = { name, config, routes: () => routesOf(name, routes, scope) };
    for (const rule of RULES) report.addProblems(rule.checkAgent?.(view) ?? [], tree);
  }
}

/** One after the other: a rule that has seen enough stops. */
function* routesOf(profile: string, routes: readonly WrittenRoute[], scope: RouteScope): Iterable<RouteView> {
  // Where a route stands in the files does not matter here.
  const at = { file: '', line: 0 };
  for (const { name, config } of routes) {
    if ((config.profile ?? DEFAULT_PROFILE) === profile) yield viewRoute({ name, config, at }, scope);
  }
}
