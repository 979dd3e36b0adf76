/** An agent that does not exist. */
import { NO_AGENT } from '../../base/no-agent.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const unknownAgent = rule('unknown-agent', {
  route({ config }, report) {
    checkName(config.agent, report);
  },
  job({ config }, report) {
    checkName(config.agent, report);
  },
});

function checkName(name: string | undefined, report: Reporter): void {
  if (name === undefined || name === NO_AGENT) return;
  const message = `there is no agent \`${name}\`: \`agent\` takes only \`${NO_AGENT}\` here, with which the prompt itself is the message`;
  const hint = 'without this key, the agent of the profile runs, which `agent:` at the top of the configuration sets';
  report({ path: ['agent'], at: 'value', message, hint });
}
