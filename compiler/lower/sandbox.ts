/** Lowers `sandbox:`, which says what a program can reach, and checks the secrets that depend on it (decisions §11). */
import type { AgentConfig, SandboxConfig, SandboxPlan } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';

/** Null: none is configured, and the program reaches what the gateway does. */
export function lowerSandbox(config: SandboxConfig | undefined): SandboxPlan | null {
  if (config === undefined) return null;
  const { network = 'none', read = [], write = [] } = config;
  return { network: network === 'none' ? [] : network, read, write };
}

/** The secrets of `env` with `only_to` that the sandbox of an agent cannot put in. @param gateway of an agent that has none of its own */
export function checkGuardedSecrets(
  at: NodePath,
  { command, env = {}, sandbox: own }: AgentConfig,
  gateway: SandboxPlan | null,
): readonly Problem[] {
  const sandbox = lowerSandbox(own) ?? gateway;
  return Object.entries(env).flatMap(([name, entry]) => {
    if (typeof entry === 'string' || command === undefined) return [];
    const path = [...at, 'env', name, 'only_to'];
    const hint = `write \`sandbox: { network: [${entry.only_to.join(', ')}] }\`, with the other hosts that the program needs`;
    const problem = (message: string): Problem => ({ rule: 'guarded-secret', path, at: 'key', message, hint });
    if (sandbox === null)
      return [problem('`only_to` needs a `sandbox`: nothing else can keep the secret from the program')];
    const { network } = sandbox;
    if (network === 'any') return [problem('`only_to` needs a list of hosts: with `network: any` nothing is filtered')];
    return entry.only_to.flatMap((host, index): Problem[] => {
      if (network.some((pattern) => covers(pattern, host))) return [];
      const message = `the sandbox does not reach \`${host}\`, so the secret would go nowhere`;
      return [{ rule: 'guarded-secret', path: [...path, index], at: 'value', message, hint: 'add it to `network`' }];
    });
  });
}

/** Whether a sandbox with this entry of `network` reaches all that is meant by `host`. */
function covers(pattern: string, host: string): boolean {
  const name = pattern.replace(/:\d+$/, '').toLowerCase();
  return name === host.toLowerCase() || (name.startsWith('*.') && host.toLowerCase().endsWith(name.slice(1)));
}
