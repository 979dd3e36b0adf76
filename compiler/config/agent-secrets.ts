/** Lists the secrets of an agent's configuration. */
import type { AgentConfig } from '../../schemas/generated/types.ts';

/** Returns the path and the written text of each secret: a literal or a reference. */
export function agentSecrets(config: AgentConfig | undefined): readonly { path: readonly string[]; text: string }[] {
  const key = config?.openai?.api_key;
  return [
    ...(key === undefined ? [] : [{ path: ['agent', 'openai', 'api_key'], text: key }]),
    ...Object.entries(config?.env ?? {}).map(([name, text]) => ({ path: ['agent', 'env', name], text })),
  ];
}
