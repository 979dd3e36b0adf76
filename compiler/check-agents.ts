/** Checks each agent together with the routes whose prompts it runs. */

import { DEFAULT_PROFILE } from '../base/profiles.ts';
import type { WrittenRoute } from './config/webhook-settings.ts';
import type { CheckedProfile } from './lower-base.ts';
import type { Report } from './report.ts';
import { VIEW_RULES } from './rules/registry.ts';
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
    for (const rule of VIEW_RULES) report.addProblems(rule.checkAgent?.(view) ?? [], tree);
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
