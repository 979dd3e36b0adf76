/** A table with what its work needs of this machine: secrets, targets and agents, linked anew for each table. */
import { agentPlans } from '../../base/agent-plan.ts';
import { labelIn } from '../../base/label.ts';
import { readRegularText } from '../../base/read-regular-file.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { createDeliveryContext } from '../deliver/delivery-context.ts';
import type { LinkedTargets } from '../deliver/link-targets.ts';
import { isUsed, linkTargets, loadDrivers } from '../deliver/link-targets.ts';
import type { Agents } from '../dispatch/agents/create-agents.ts';
import { createAgents } from '../dispatch/agents/create-agents.ts';
import { tableSecretRefs } from '../platform/secrets/secret-refs.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { explainSecrets } from '../platform/secrets/secrets.ts';
import type { AgentLimit } from '../store/work-mutations.ts';
import { TableError } from '../table/load.ts';
import type { ServiceContext } from './context.ts';

/** Largest skill, in bytes; a prompt contains it. */
const MAX_SKILL_BYTES = 4 * 1024 * 1024;

export type OpenDeliveries = ReturnType<typeof createDeliveryContext>;

/** A table with its secrets, targets and agents. */
export interface LinkedWork {
  readonly table: RouteTable;
  readonly secrets: SecretResolver;
  readonly targets: LinkedTargets;
  readonly agents: Agents;
  readonly limits: readonly AgentLimit[];
}

/** Links the targets and agents of a table. Rejects with TableError naming all missing credentials. */
export async function linkWork(
  context: ServiceContext,
  deliveries: OpenDeliveries,
  table: RouteTable,
): Promise<LinkedWork> {
  const secrets = await context.secrets(tableSecretRefs(table), table.server.host);
  const drivers = await loadDrivers(table, deliveries.context);
  const { linked: targets, problems } = linkTargets(table, secrets, deliveries.context, drivers);
  // Without its driver, a target that nothing is set up for is as one that is not enabled.
  const faults = problems.filter(({ noDriver, profile, target }) => !noDriver || isUsed(table, profile, target));
  if (faults.length > 0) {
    const lines = faults.map(
      ({ profile, target, message }) => `target ${labelIn(table.targets, target)} of profile ${profile}: ${message}`,
    );
    throw new TableError(lines.join('\n'));
  }
  const { redact } = context.redactor;
  const readText = (path: string): Promise<string> => readRegularText(path, MAX_SKILL_BYTES);
  const { confine } = context.confinement;
  const create = (): Agents =>
    createAgents(table, { ...context, confine, secrets, redact, readText, http: deliveries.http });
  const agents = explainSecrets(create, (reason) => new TableError(reason));
  return { table, secrets, targets, agents, limits: limitsOfAgents(table) };
}

/** How many runs agents may have at once, where something limits it. */
export const limitsOfAgents = ({ profiles }: Pick<RouteTable, 'profiles'>): readonly AgentLimit[] =>
  Object.values(profiles).flatMap((profile) =>
    agentPlans(profile).flatMap(([agent, { max_concurrent }]) =>
      max_concurrent === null ? [] : [{ profile: profile.name, agent, max_concurrent }],
    ),
  );
