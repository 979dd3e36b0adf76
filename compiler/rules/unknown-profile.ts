/** A profile that does not exist (§5.4). */

import { didYouMean, renameFix } from '../text/suggest.ts';
import { rule } from './support/rule.ts';

export const unknownProfile = rule('unknown-profile', {
  route(route, report) {
    const { profile, scope } = route;
    if (route.profilePlan !== null || !scope.table.gateway.multiplex_profiles) return;
    if (scope.invalidNames.has(`profile:${profile}`)) return;
    const known = Object.keys(scope.table.profiles);
    const message = `there is no profile \`${profile}\`${didYouMean(profile, known)}`;
    const hint = `a profile is a folder: \`<home_dir>/profiles/${profile}/\``;
    report({ path: ['profile'], at: 'value', message, hint, ...renameFix(profile, known) });
  },
});
