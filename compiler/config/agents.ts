/** The agents of a profile as written: the default one under `agent`, and those under `agents`. */
import type { AgentConfig, ProfileConfig } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';

export interface WrittenAgent {
  /** Null: the default one. */
  readonly name: string | null;
  /** Its place in the config. */
  readonly path: NodePath;
  readonly config: AgentConfig;
}

export function writtenAgents({ agent, agents }: ProfileConfig): readonly WrittenAgent[] {
  const named = Object.entries(agents ?? {}).map(([name, config]) => ({ name, path: ['agents', name], config }));
  return agent === undefined ? named : [{ name: null, path: ['agent'], config: agent }, ...named];
}
