/** Whether the agent of a route can do nothing outside of its sandbox. */
import { agentPlan } from '../../../../base/agent-plan.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';

/** True if it reaches no host, and writes nothing that outlives the run. */
export function isWalledIn({ mode, config, profilePlan }: RouteView): boolean {
  const agent = mode !== 'agent' || profilePlan === null ? null : agentPlan(profilePlan, config.agent ?? null);
  const sandbox = agent?.kind === 'command' ? agent.sandbox : null;
  return sandbox !== null && sandbox.network !== 'any' && sandbox.network.length + sandbox.write.length === 0;
}
