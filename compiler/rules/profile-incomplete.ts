/** A route whose profile lacks something that the route needs. There is no fallback to another profile (§5.4). */

import type { Reporter } from '../views/views.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { rule } from './support/rule.ts';
import { scriptState } from './support/script-state.ts';
import { checkEnabled } from './target-not-enabled.ts';
import { checkSkills } from './unknown-skill.ts';

export const profileIncomplete = rule('profile-incomplete', {
  route(route, report) {
    const { profile, profilePlan, mode, config, scope } = route;
    if (profilePlan === null || !hasOwnProfile(route)) return;
    const about: Reporter = (problem) => {
      const message = `${problem.message}; profile \`${profile}\` uses only its own targets, scripts and skills`;
      report({ ...problem, message });
    };
    if (mode !== 'cron') checkEnabled(route.targets, profilePlan, scope, about);
    if (config.script !== undefined && scriptState(route) === 'missing') {
      const message = `the script \`${config.script}\` does not exist in profiles/${profile}/scripts/`;
      about({ path: ['script'], at: 'value', message });
    }
    if (mode === 'agent') checkSkills(config.skills, profilePlan.home, scope.facts, about);
  },
});
