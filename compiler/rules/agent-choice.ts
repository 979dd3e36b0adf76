/** An agent with both a command and an API. */

import { rule } from './support/rule.ts';

export const agentChoice = rule('agent-choice', {
  profile({ config }, report) {
    const { agent } = config;
    if (agent === undefined) return;
    if (agent.command === undefined) {
      for (const name of ['env', 'cwd', 'work'] as const) {
        const message = `\`${name}\` is for a \`command\`; there is none`;
        if (agent[name] !== undefined) report({ path: ['agent', name], at: 'key', message });
      }
      return;
    }
    if (agent.openai === undefined) return;
    const message = '`command` and `openai` exclude each other; keep one of them';
    const related = [{ path: ['agent', 'openai'], message: 'the other one is here' }];
    report({ path: ['agent', 'command'], at: 'key', message, related });
  },
});
