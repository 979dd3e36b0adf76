/** Checks each agent together with the routes whose prompts it runs. */

import { DEFAULT_PROFILE } from '../base/profiles.ts';
import type { WrittenRoute } from './config/webhook-settings.ts';
import type { CheckedProfile } from './lower-base.ts';
import type { Report } from './report.ts';
import { applyRules } from './rules/support/rule.ts';
import { viewRoute } from './views/view-route.ts';
import type { RouteScope, RouteView } from './views/views.ts';

export interface AgentChecks {
  readonly profiles: readonly CheckedProfile[];
  readonly routes: readonly WrittenRoute[];
  readonly scope: RouteScope;
}

export function checkAgents({ profiles, routes, scope }: AgentChecks, report: Report): void {
  for (const { name, config, tree } of profiles) {
    const view = { name, config, routes: () => routesOf(name, routes, scope) };
    report.addProblems(applyRules(scope.rules, 'agent', view), tree);
  }
}

/** Lazy, because a rule may stop early. */
function* routesOf(profile: string, routes: readonly WrittenRoute[], scope: RouteScope): Iterable<RouteView> {
  // Agent rules do not use the position of a route.
  const at = { file: '', line: 0 };
  for (const { name, config } of routes) {
    if ((config.profile ?? DEFAULT_PROFILE) === profile) yield viewRoute({ name, config, at }, scope);
  }
}
