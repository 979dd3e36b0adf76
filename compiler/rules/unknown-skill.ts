/** A skill that does not exist on this machine. */
import type { MachineFacts } from '../views/machine-facts.ts';
import type { Reporter } from '../views/views.ts';
import { hasOwnProfile } from './support/own-profile.ts';
import { rule } from './support/rule.ts';

export const unknownSkill = rule('unknown-skill', {
  route(route, report) {
    if (route.mode !== 'agent' || route.profilePlan === null || hasOwnProfile(route)) return;
    checkSkills(route.config.skills, route.profilePlan.home, route.scope.facts, report);
  },
  job({ config, profile, scope }, report) {
    checkSkills(config.skills, profile.home, scope.facts, report);
  },
});

export function checkSkills(skills: readonly string[] = [], home: string, facts: MachineFacts, report: Reporter): void {
  for (const [index, skill] of skills.entries()) {
    if (facts.skill(home, skill)) continue;
    const message = `there is no skill \`${skill}\``;
    const hint = `a skill is a file: \`<profile home>/skills/${skill}/SKILL.md\``;
    report({ path: ['skills', index], at: 'value', message, hint });
  }
}
