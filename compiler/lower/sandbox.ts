/** Lowers `sandbox:`, which says what a program can reach (decisions §11). */
import type { SandboxConfig, SandboxPlan } from '../../schemas/generated/types.ts';

/** Null: none is configured, and the program reaches what the gateway does. */
export function lowerSandbox(config: SandboxConfig | undefined): SandboxPlan | null {
  if (config === undefined) return null;
  const { network = 'none', read = [], write = [] } = config;
  return { network: network === 'none' ? [] : network, read, write };
}
