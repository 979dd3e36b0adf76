/** A target that is not enabled (§4.4). */

import { labelOf } from '../../base/label.ts';
import type { ProfilePlan, TargetPlan } from '../../schemas/generated/types.ts';
import type { RouteTarget } from '../config/deliveries.ts';
import { namedTargets } from '../config/deliveries.ts';
import type { Reporter, RouteScope } from '../views/views.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { deliveryRule } from './support/receivers.ts';
import { deliverPath } from './support/targets.ts';

export const targetNotEnabled = deliveryRule('target-not-enabled', ({ config, profile, route, scope, report }) => {
  if (profile === null || (route !== null && hasOwnProfile(route))) return;
  checkEnabled(namedTargets(config.deliver, scope.table.target_names), profile, scope, report);
});

/** @param targets targets of a route or job of the profile */
export function checkEnabled(
  targets: readonly RouteTarget[],
  profile: ProfilePlan,
  scope: Pick<RouteScope, 'table' | 'invalidNames'>,
  report: Reporter,
): void {
  const where = profile.home === '' ? '' : ` of the profile \`${profile.name}\``;
  for (const { name, index, target } of targets) {
    if (target === null || Object.hasOwn(profile.targets, target)) continue;
    if (scope.invalidNames.has(`target:${target}`)) continue;
    const message = `the target \`${name}\` is not enabled: every delivery to it fails`;
    const plan = scope.table.targets[target];
    const shared = plan?.platform === undefined ? undefined : scope.table.targets[plan.platform];
    const hint =
      shared === undefined
        ? `set \`platforms.${name}.enabled: true\` in the config${where}, with its credentials`
        : `set ${waysOf(plan)} under \`platforms.${labelOf(shared)}\` in the config${where}`;
    report({ path: deliverPath(index), at: 'value', message, hint });
  }
}

/** The settings that it cannot do without, or those of each variant. */
function waysOf(plan: TargetPlan | undefined): string {
  const required = (plan?.settings ?? []).flatMap(({ name, required }) => (required ? [name] : []));
  const ways = (plan?.variants ?? []).map(({ needs }) => [...new Set([...required, ...needs])]);
  return ways.map((names) => names.map((name) => `\`${name}\``).join(' and ')).join(', or ');
}
