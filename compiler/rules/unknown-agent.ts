/** An agent that does not exist. */
import { NO_AGENT } from '../../base/no-agent.ts';
import type { ProfilePlan } from '../../schemas/generated/types.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import type { Reporter, RouteScope } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const unknownAgent = rule('unknown-agent', {
  route({ config, profilePlan, scope }, report) {
    checkName(config.agent, profilePlan, scope, report);
  },
  job({ config, profile, scope }, report) {
    checkName(config.agent, profile, scope, report);
  },
});

function checkName(
  name: string | undefined,
  profile: ProfilePlan | null,
  { invalidNames }: Pick<RouteScope, 'invalidNames'>,
  report: Reporter,
): void {
  // A profile that does not exist is reported by another rule.
  if (name === undefined || name === NO_AGENT || profile === null) return;
  if (Object.hasOwn(profile.agents, name) || invalidNames.has(`agent:${name}`)) return;
  const known = Object.keys(profile.agents);
  const message = `there is no agent \`${name}\`${didYouMean(name, [...known, NO_AGENT])}`;
  const hint =
    known.length === 0
      ? `write it under \`agents\`, or remove this key: then the default agent runs, which \`agent\` at the top sets`
      : `agents of this profile: ${oneOf(known, 'and')}; \`${NO_AGENT}\`: the prompt is the message; without this key, the default agent runs`;
  report({ path: ['agent'], at: 'value', message, hint, ...renameFix(name, [...known, NO_AGENT]) });
}
