/** Two agents where one can answer. */
import type { Rule } from './support/rule.ts';

export const agentChoice: Rule = {
  id: 'agent-choice',
  severity: 'error',
  title: '`agent` sets both `command` and `openai`.',
  why: 'Each prompt is run once, by one of them.',
  checkProfile({ config }) {
    const { agent } = config;
    if (agent === undefined) return [];
    if (agent.command === undefined) {
      const idle = (['env', 'cwd'] as const).filter((name) => agent[name] !== undefined);
      return idle.map((name) => {
        const message = `\`${name}\` is for a \`command\`; there is none`;
        return { rule: this.id, path: ['agent', name], at: 'key', message } as const;
      });
    }
    if (agent.openai === undefined) return [];
    const message = '`command` and `openai` exclude each other; keep one of them';
    const related = [{ path: ['agent', 'openai'], message: 'the other one is here' }];
    return [{ rule: this.id, path: ['agent', 'command'], at: 'key', message, related }];
  },
};
