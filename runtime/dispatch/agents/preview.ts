/** The default agent: it returns the prompt as its answer, so that a route can be tried out without an agent. */
import type { AgentRunner } from '../agent-runner.ts';

export const previewAgent: AgentRunner = { run: ({ prompt }) => Promise.resolve(prompt) };
