/** Links the targets and agents of a table; a swap replaces all of them. */
import { labelIn } from '../base/label.ts';
import { readRegularText } from '../base/read-regular-file.ts';
import type { RouteTable, SecretRef } from '../schemas/generated/types.ts';
import type { DeliveryContext } from './deliver/driver.ts';
import type { LinkedTargets } from './deliver/link-targets.ts';
import { linkTargets } from './deliver/link-targets.ts';
import type { Redact } from './deliver/redact.ts';
import type { RunAgent } from './dispatch/agent-runner.ts';
import type { Agents } from './dispatch/agents/create-agents.ts';
import { createAgents } from './dispatch/agents/create-agents.ts';
import type { RetryPolicy } from './dispatch/context.ts';
import type { Logger } from './platform/log.ts';
import type { RunProcess } from './platform/process/run-process.ts';
import { tableSecretRefs } from './platform/secrets/secret-refs.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import { SecretError } from './platform/secrets/secrets.ts';
import { TableError } from './table/load.ts';

/** Largest skill, in bytes; a prompt contains it. */
const MAX_SKILL_BYTES = 4 * 1024 * 1024;

export interface WorkLinkContext {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly run: RunProcess;
  /** Reads the current values of these references. @param host the table's */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
  /** Used instead of the table's agents; null: the table's agents. */
  readonly agent: RunAgent | null;
  /** Replaces all known secrets. */
  readonly redact: Redact;
}

/** A table with its secrets, targets and agents. */
export interface LinkedWork {
  readonly table: RouteTable;
  readonly secrets: SecretResolver;
  readonly targets: LinkedTargets;
  readonly agents: Agents;
}

/** Rejects with TableError naming all missing credentials. */
export async function linkWork(
  context: WorkLinkContext,
  deliveries: DeliveryContext,
  table: RouteTable,
): Promise<LinkedWork> {
  const { home, env, log, run, redact, agent } = context;
  const secrets = await context.secrets(tableSecretRefs(table), table.server.host);
  const { linked: targets, problems } = linkTargets(table, secrets, deliveries);
  if (problems.length > 0) {
    throw new TableError(
      problems
        .map(
          ({ profile, target, message }) =>
            `target ${labelIn(table.targets, target)} of profile ${profile}: ${message}`,
        )
        .join('\n'),
    );
  }
  try {
    const readText = (path: string): Promise<string> => readRegularText(path, MAX_SKILL_BYTES);
    const http = deliveries.dispatcher;
    const agents = createAgents(table, { home, env, log, run, secrets, redact, agent, readText, http });
    return { table, secrets, targets, agents };
  } catch (error) {
    if (error instanceof SecretError) throw new TableError(`agent: ${error.message}`);
    throw error;
  }
}

/** A target without a binding of its own (`log`) uses the gateway's policy. */
export function policyOf({ profiles, gateway }: RouteTable, profile: string, target: string): RetryPolicy {
  const targets = Object.hasOwn(profiles, profile) ? profiles[profile]?.targets : undefined;
  const binding = targets !== undefined && Object.hasOwn(targets, target) ? targets[target] : undefined;
  return binding ?? { max_attempts: gateway.max_attempts, retry_ambiguous: false };
}
