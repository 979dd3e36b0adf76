/** Explains a request to a route of a configuration, with the secrets, lists, scripts and jobs of this machine. */

import { createPaint } from '../../../../base/paint.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import type { Explained, SentRequest } from '../../../../cli/base/module.ts';
import { createIds } from '../../../../runtime/platform/ids.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { createSecrets, userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { explainRequest } from '../../runtime/explain/explain-request.ts';
import { createDryDispatcher } from '../../runtime/explain/explain-services.ts';
import { linkExplained } from '../../runtime/explain/link-explained.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import { formatExplanation } from './format-explanation.ts';
import { deliveryRefusal, jobState, listFiles, marksFor, scriptRunner } from './machine-services.ts';

export interface ExplainInput {
  readonly plan: RoutePlan;
  readonly table: RouteTable;
  readonly request: RequestParts;
  readonly event: string | null;
  readonly runsScript: boolean;
  /** For a kept request: see `ExplainRequest`. */
  readonly verifiedBy?: string;
  readonly cameAt?: number;
}

/** @throws CliError when the route could not be served at all. */
export async function explainRoute(context: CliContext, input: ExplainInput): Promise<Explanation> {
  const { plan, table, request, event, runsScript } = input;
  const { home, env, clock } = context;
  const secrets = createSecrets(context);
  const warnings = new Warnings();
  const marks = await marksFor([plan]);
  const linking = { marks, home, userHome: userHome(env), files: listFiles(gatewayFiles), secrets, clock, warnings };
  const linked = refusable(() => linkExplained(plan, table, linking));
  const dispatcher = createDryDispatcher({
    refusal: deliveryRefusal(context, table, secrets),
    jobState: (profile, id) => jobState(context, table, profile, id),
  });
  const runScript = runsScript && plan.script !== null ? await scriptRunner(context) : null;
  const agent = table.profiles[plan.profile]?.agent.kind ?? null;
  return explainRequest(
    { ...linked, agent, request, event, runScript, warnings, ...keptFacts(input) },
    { dispatcher, clock, ids: createIds(context.random) },
  );
}

/** What is known of a kept request besides its parts. */
const keptFacts = ({ verifiedBy, cameAt }: ExplainInput): Pick<ExplainInput, 'verifiedBy' | 'cameAt'> =>
  verifiedBy === undefined || cameAt === undefined ? {} : { verifiedBy, cameAt };

function refusable<Result>(link: () => Result): Result {
  try {
    return link();
  } catch (error) {
    if (error instanceof LinkError) throw new CliError(error.message);
    throw error;
  }
}

export async function explainSent(context: CliContext, sent: SentRequest): Promise<Explained> {
  const found = await explainRoute(context, { ...sent, runsScript: false });
  return { taken: found.taken, json: found, lines: formatExplanation(found, createPaint(context.colour.stdout)) };
}
