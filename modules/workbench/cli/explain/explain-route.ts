/** Explains a request to a route of a configuration, with the secrets, lists, scripts and jobs of this machine. */

import { createPaint } from '../../../../base/paint.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import type { Explained, SentRequest } from '../../../../cli/base/module.ts';
import { createIds } from '../../../../runtime/platform/ids.ts';
import { createSecrets } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { createExplainer } from './explainer.ts';
import { formatExplanation } from './format-explanation.ts';
import { jobState, scriptRunner } from './machine-services.ts';

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
export async function explainRoute(
  context: CliContext,
  { plan, table, runsScript, ...asked }: ExplainInput,
): Promise<Explanation> {
  const runScript = runsScript && plan.script !== null ? await scriptRunner(context) : null;
  const explainer = createExplainer(context, table, {
    secrets: createSecrets(context),
    clock: context.clock,
    ids: createIds(context.random),
    jobState: (profile, id) => jobState(context, table, profile, id),
  });
  try {
    return await explainer.explain(plan, { ...asked, runScript });
  } catch (error) {
    if (error instanceof LinkError) throw new CliError(error.message);
    throw error;
  }
}

export async function explainSent(context: CliContext, sent: SentRequest): Promise<Explained> {
  const found = await explainRoute(context, { ...sent, runsScript: false });
  return { taken: found.taken, json: found, lines: formatExplanation(found, createPaint(context.colour.stdout)) };
}
