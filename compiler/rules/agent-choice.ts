/** An agent with both a command and an API. */

import type { WrittenAgent } from '../config/agents.ts';
import { writtenAgents } from '../config/agents.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const agentChoice = rule('agent-choice', {
  profile({ config }, report) {
    for (const agent of writtenAgents(config)) checkAgent(agent, report);
  },
});

function checkAgent({ path, config: agent }: WrittenAgent, report: Reporter): void {
  if (agent.command === undefined) {
    for (const name of ['env', 'cwd', 'work', 'sandbox', 'answer_path', 'usage_paths'] as const) {
      const message = `\`${name}\` is for a \`command\`; there is none`;
      if (agent[name] !== undefined) report({ path: [...path, name], at: 'key', message });
    }
    return;
  }
  if (agent.openai === undefined) return;
  const message = '`command` and `openai` exclude each other; keep one of them';
  const related = [{ path: [...path, 'openai'], message: 'the other one is here' }];
  report({ path: [...path, 'command'], at: 'key', message, related });
}
