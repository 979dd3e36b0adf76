/** A route whose profile lacks what the route needs: nothing falls back to another profile (§5.4). */
import type { Problem } from '../diagnostics/problem.ts';
import type { RouteView } from '../routes/route-scope.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import type { Rule } from './support/rule.ts';
import { scriptState } from './support/script-state.ts';
import { targetsNotEnabled } from './support/targets.ts';
import { unknownSkills } from './unknown-skill.ts';

export const profileIncomplete: Rule = {
  id: 'profile-incomplete',
  severity: 'error',
  title: "The route's profile lacks a target, script or skill that the route needs.",
  why: 'A profile reaches only what is its own: the target that another profile has switched on, or the script beside it, is out of reach, and the route would accept events that come to nothing.',
  checkRoute(route) {
    const { profile, profilePlan, mode, config, scope } = route;
    if (profilePlan === null || !hasOwnProfile(route)) return [];
    const targets = mode === 'cron' ? [] : targetsNotEnabled(route.targets, profilePlan, scope);
    const skills = mode === 'agent' ? unknownSkills(config.skills ?? [], profilePlan.home, scope.facts) : [];
    return [...targets, ...missingScript(route), ...skills].map((problem) => ({
      ...problem,
      rule: this.id,
      message: `${problem.message}; profile \`${profile}\` has only what is its own`,
    }));
  },
};

function missingScript(route: RouteView): readonly Problem[] {
  const { script } = route.config;
  if (script === undefined || scriptState(route) !== 'missing') return [];
  const message = `the script \`${script}\` does not exist in profiles/${route.profile}/scripts/`;
  return [{ rule: 'script-missing', path: ['script'], at: 'value', message }];
}
