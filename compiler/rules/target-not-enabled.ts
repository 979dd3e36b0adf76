/** A target that is not switched on (§4.4). */

import { targetNamed, writtenTargets } from '../lower/delivery.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import type { Rule } from './support/rule.ts';
import { targetsNotEnabled } from './support/targets.ts';

export const targetNotEnabled: Rule = {
  id: 'target-not-enabled',
  severity: 'warning',
  title: "`deliver` names a target that is not enabled in the route's profile.",
  why: 'Every delivery to it fails until it is switched on with its credentials.',
  checkRoute(route) {
    if (route.mode === 'cron' || route.profilePlan === null || hasOwnProfile(route)) return [];
    return targetsNotEnabled(route.targets, route.profilePlan, route.scope);
  },
  checkJob({ config, profile, scope }) {
    const targets = writtenTargets(config.deliver).map((written) => ({
      ...written,
      target: targetNamed(scope.table.target_names, written.name),
    }));
    return targetsNotEnabled(targets, profile, scope);
  },
};
