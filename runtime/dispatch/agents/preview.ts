/** The agent of a gateway that has none: answers with the prompt, so that a route can be tried out. */
import type { AgentRunner } from '../agent-runner.ts';

export const previewAgent: AgentRunner = { run: ({ prompt }) => Promise.resolve(prompt) };
