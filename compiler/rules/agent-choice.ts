/** An agent with both a command and an API. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const agentChoice = {
  id: 'agent-choice',
  checkProfile({ config }): readonly Problem[] {
    const { agent } = config;
    if (agent === undefined) return [];
    if (agent.command === undefined) {
      const idle = (['env', 'cwd'] as const).filter((name) => agent[name] !== undefined);
      return idle.map((name) => {
        const message = `\`${name}\` is for a \`command\`; there is none`;
        return { rule: 'agent-choice', path: ['agent', name], at: 'key', message } as const;
      });
    }
    if (agent.openai === undefined) return [];
    const message = '`command` and `openai` exclude each other; keep one of them';
    const related = [{ path: ['agent', 'openai'], message: 'the other one is here' }];
    return [{ rule: 'agent-choice', path: ['agent', 'command'], at: 'key', message, related }];
  },
} as const satisfies ViewRule;
