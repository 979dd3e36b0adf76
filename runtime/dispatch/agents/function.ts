/** An agent that is a function of the embedding program. */
import type { AgentRunner, RunAgent } from '../agent-runner.ts';
import { AgentError } from '../agent-runner.ts';

export function createFunctionAgent(run: RunAgent): AgentRunner {
  return {
    run: async (request) => {
      const text: unknown = await run(request);
      if (typeof text !== 'string') throw new AgentError(`the agent returned ${typeof text} instead of a text`);
      return text;
    },
  };
}
