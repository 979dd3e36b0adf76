/** A skill that does not exist on this machine. */
import type { Problem } from '../diagnostics/problem.ts';
import type { MachineFacts } from '../views/machine-facts.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownSkill = {
  id: 'unknown-skill',
  checkRoute(route): readonly Problem[] {
    if (route.mode !== 'agent' || route.profilePlan === null || hasOwnProfile(route)) return [];
    return unknownSkills(route.config.skills ?? [], route.profilePlan.home, route.scope.facts);
  },
  checkJob({ config, profile, scope }): readonly Problem[] {
    return unknownSkills(config.skills ?? [], profile.home, scope.facts);
  },
} as const satisfies ViewRule;

/** Also checks jobs. */
export function unknownSkills(skills: readonly string[], home: string, facts: MachineFacts): readonly Problem[] {
  return skills.flatMap((skill, index): readonly Problem[] => {
    if (facts.skill(home, skill)) return [];
    const message = `there is no skill \`${skill}\``;
    const hint = `a skill is a file: \`<profile home>/skills/${skill}/SKILL.md\``;
    return [{ rule: 'unknown-skill', path: ['skills', index], at: 'value', message, hint }];
  });
}
