/** Lists the secrets of the agents of a configuration. */
import type { ProfileConfig } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { writtenAgents } from './agents.ts';

export interface AgentSecret {
  readonly path: NodePath;
  /** A literal or a reference. */
  readonly text: string;
  /** Name of the variable that it becomes; null: it is the key of an API. */
  readonly variable: string | null;
}

export const agentSecrets = (config: ProfileConfig): readonly AgentSecret[] =>
  writtenAgents(config).flatMap(({ path, config: { openai, env } }) => {
    const key = openai?.api_key;
    return [
      ...(key === undefined ? [] : [{ path: [...path, 'openai', 'api_key'], text: key, variable: null }]),
      ...Object.entries(env ?? {}).map(([variable, entry]) => {
        const at = [...path, 'env', variable];
        return typeof entry === 'string'
          ? { path: at, text: entry, variable }
          : { path: [...at, 'secret'], text: entry.secret, variable };
      }),
    ];
  });
