/** The secrets of an agent. */
import type { AgentConfig } from '../../schemas/generated/types.ts';

/** Where secrets stand in an agent's configuration, and what is written there. */
export function agentSecrets(config: AgentConfig | undefined): readonly { path: readonly string[]; text: string }[] {
  const key = config?.openai?.api_key;
  return [
    ...(key === undefined ? [] : [{ path: ['agent', 'openai', 'api_key'], text: key }]),
    ...Object.entries(config?.env ?? {}).map(([name, text]) => ({ path: ['agent', 'env', name], text })),
  ];
}
