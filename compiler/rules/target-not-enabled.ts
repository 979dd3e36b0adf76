/** A target that is not enabled (§4.4). */

import type { ProfilePlan } from '../../schemas/generated/types.ts';
import { targetNamed, writtenTargets } from '../config/deliveries.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteScope, RouteTarget } from '../views/route-scope.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { deliverPath } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';

export const targetNotEnabled = {
  id: 'target-not-enabled',
  checkRoute(route): readonly Problem[] {
    if (route.mode === 'cron' || route.profilePlan === null || hasOwnProfile(route)) return [];
    return targetsNotEnabled(route.targets, route.profilePlan, route.scope);
  },
  checkJob({ config, profile, scope }): readonly Problem[] {
    const targets = writtenTargets(config.deliver).map((written) => ({
      ...written,
      target: targetNamed(scope.table.target_names, written.name),
    }));
    return targetsNotEnabled(targets, profile, scope);
  },
} as const satisfies ViewRule;

/** @param targets targets of a route or job of the profile */
export function targetsNotEnabled(
  targets: readonly RouteTarget[],
  profile: ProfilePlan,
  scope: Pick<RouteScope, 'table' | 'invalidNames'>,
): readonly Problem[] {
  const isOff = ({ target }: RouteTarget): boolean => {
    if (target === null) return false;
    return !Object.hasOwn(profile.targets, target) && !scope.invalidNames.has(`target:${target}`);
  };
  const where = profile.home === '' ? '' : ` of the profile \`${profile.name}\``;
  return targets.filter(isOff).map(({ name, index }) => ({
    rule: 'target-not-enabled',
    path: deliverPath(index),
    at: 'value',
    message: `the target \`${name}\` is not enabled: every delivery to it fails`,
    hint: `set \`platforms.${name}.enabled: true\` in the config${where}, with its credentials`,
  }));
}
