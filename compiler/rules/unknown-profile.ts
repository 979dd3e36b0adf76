/** A profile that does not exist (§5.4). */

import type { Problem } from '../diagnostics/problem.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownProfile = {
  id: 'unknown-profile',
  checkRoute(route): readonly Problem[] {
    const { profile, scope } = route;
    if (route.profilePlan !== null || !scope.table.gateway.multiplex_profiles) return [];
    if (scope.invalidNames.has(`profile:${profile}`)) return [];
    const message = `there is no profile \`${profile}\`${didYouMean(profile, Object.keys(scope.table.profiles))}`;
    const hint = `a profile is a folder: \`<home_dir>/profiles/${profile}/\``;
    return [
      {
        rule: 'unknown-profile',
        path: ['profile'],
        at: 'value',
        message,
        hint,
        ...renameFix(profile, Object.keys(scope.table.profiles)),
      },
    ];
  },
} as const satisfies ViewRule;
