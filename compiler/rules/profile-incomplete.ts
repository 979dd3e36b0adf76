/** A route whose profile lacks something that the route needs. There is no fallback to another profile (§5.4). */
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteView } from '../views/route-scope.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { scriptState } from './support/script-state.ts';
import type { ViewRule } from './support/view-rule.ts';
import { targetsNotEnabled } from './target-not-enabled.ts';
import { unknownSkills } from './unknown-skill.ts';

export const profileIncomplete = {
  id: 'profile-incomplete',
  checkRoute(route): readonly Problem[] {
    const { profile, profilePlan, mode, config, scope } = route;
    if (profilePlan === null || !hasOwnProfile(route)) return [];
    const targets = mode === 'cron' ? [] : targetsNotEnabled(route.targets, profilePlan, scope);
    const skills = mode === 'agent' ? unknownSkills(config.skills ?? [], profilePlan.home, scope.facts) : [];
    return [...targets, ...missingScript(route), ...skills].map((problem) => ({
      ...problem,
      rule: 'profile-incomplete',
      message: `${problem.message}; profile \`${profile}\` uses only its own targets, scripts and skills`,
    }));
  },
} as const satisfies ViewRule;

function missingScript(route: RouteView): readonly Problem[] {
  const { script } = route.config;
  if (script === undefined || scriptState(route) !== 'missing') return [];
  const message = `the script \`${script}\` does not exist in profiles/${route.profile}/scripts/`;
  return [{ rule: 'script-missing', path: ['script'], at: 'value', message }];
}
