/** Why `serve` would not start with a configuration: its routes are linked as the gateway links them. */
import { isLoopback } from '../../../../base/listen-address.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { missingSecrets } from '../../../../runtime/deliver/missing-secrets.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { createSecrets, userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { SWITCHED_OFF } from '../../runtime/explain/from-table.ts';
import { linkContext } from '../../runtime/explain/link-explained.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import { linkProblem, listFiles } from './machine-services.ts';

/** A line for each route that cannot be served, and each secret and setting that is missing. @param more a plan that is in no table, such as of a subscription */
export function startProblems(context: CliContext, table: RouteTable, more: RoutePlan): readonly string[] {
  if (!table.server.enabled) return [SWITCHED_OFF];
  const { home, env, clock } = context;
  const secrets = createSecrets(context);
  const files = listFiles(gatewayFiles);
  const machine = { home, userHome: userHome(env), files, secrets, marks: null, clock, warnings: new Warnings() };
  const linking = { ...linkContext(table, machine), loopback: isLoopback(table.server.host) };
  const plans = new Set([...Object.values(table.routes), more]);
  const ofRoutes = [...plans].map((plan) => linkProblem(plan, table, linking)).filter((problem) => problem !== null);
  return [...ofRoutes, ...missingSecrets(table, secrets, () => false)];
}
