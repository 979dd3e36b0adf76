/** Why `serve` would not start with a configuration: its routes are linked as the gateway links them. */
import { isLoopback } from '../../../../base/loopback.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { createSecrets, userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { linkContext } from '../../runtime/explain/link-explained.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import { linkProblem, listFiles } from './machine-services.ts';

export interface StartProblems {
  /** What the configuration itself forbids; null: nothing. */
  readonly refused: string | null;
  /** Secrets that this machine lacks, which the one that serves may have; a sentence for each route. */
  readonly missing: readonly string[];
}

/** @param more a plan that is in no table, such as of a subscription */
export function startProblems(context: CliContext, table: RouteTable, more: RoutePlan): StartProblems {
  if (!table.server.enabled)
    return { refused: 'webhooks are switched off: set platforms.webhook.enabled', missing: [] };
  const { home, env, clock } = context;
  const secrets = new RecordingSecrets(createSecrets(context));
  const files = listFiles(gatewayFiles);
  const machine = { home, userHome: userHome(env), files, secrets, marks: null, clock, warnings: new Warnings() };
  const linking = { ...linkContext(table, machine), loopback: isLoopback(table.server.host) };
  const refused: string[] = [];
  const missing: string[] = [];
  for (const plan of new Set([...Object.values(table.routes), more])) {
    secrets.failed = false;
    const problem = linkProblem(plan, table, linking);
    if (problem !== null) (secrets.failed ? missing : refused).push(problem);
  }
  return { refused: refused.length === 0 ? null : refused.join('\n'), missing };
}

/** Tells whether a secret could not be resolved. */
class RecordingSecrets implements SecretResolver {
  failed = false;
  private readonly secrets: SecretResolver;

  constructor(secrets: SecretResolver) {
    this.secrets = secrets;
  }

  resolve(...asked: Parameters<SecretResolver['resolve']>): string {
    try {
      return this.secrets.resolve(...asked);
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }
}
