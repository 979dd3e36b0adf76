/** Explains a request to a route of a configuration, with the secrets, lists, scripts and jobs of this machine. */

import { createPaint } from '../../../../base/paint.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { describePause } from '../../../../cli/output/table.ts';
import { actionsOnRoutes } from '../../../../cli/subscriptions/routes.ts';
import type { Outcome } from '../../../../runtime/intake/reply.ts';
import { ACCEPTED_OUTCOMES } from '../../../../runtime/intake/reply.ts';
import { createIds } from '../../../../runtime/platform/ids.ts';
import { createSecrets } from '../../../../runtime/platform/secrets.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import type { ExplainedBudget, Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { reportBudgets } from '../../runtime/explain/delivery-refusal.ts';
import type { ExplainRequest } from '../../runtime/explain/explain-request.ts';
import { formatExplanation } from './format-explanation.ts';
import {
  createMachineExplainer,
  jobState,
  limitsHere,
  scriptRunner,
  startProblems,
  storedInstallation,
} from './machine-services.ts';

interface SentRequest extends Pick<ExplainRequest, 'request' | 'event'> {
  readonly plan: RoutePlan;
  readonly table: RouteTable;
}

interface ExplainInput extends SentRequest, Pick<ExplainRequest, 'verifiedBy' | 'cameAt'> {
  readonly runsScript: boolean;
  /** Absolute paths of the config files, which no script may read; default: none. */
  readonly files?: readonly string[];
}

/** @throws CliError when the route cannot be served */
export async function explainRoute(
  context: CliContext,
  { plan, table, runsScript, files = [], ...asked }: ExplainInput,
): Promise<Explanation> {
  const runScript = runsScript && plan.script !== null ? await scriptRunner(context, table, files) : null;
  const problems = startProblems(context, table, plan);
  let budgets: readonly ExplainedBudget[] = [];
  const explainer = createMachineExplainer(context, table, {
    secrets: createSecrets(context),
    clock: context.clock,
    ids: createIds(context.random),
    installation: () => storedInstallation(context),
    jobState: (profile, id) => jobState(context, table, profile, id),
    overLimit: async (dispatch, event) => {
      const limits = await limitsHere(context, { table, plan, dispatch, event });
      ({ budgets } = limits);
      return limits.over;
    },
  });
  try {
    const explanation = await explainer.explain(plan, { ...asked, runScript });
    return {
      ...explanation,
      taken: explanation.taken && problems.length === 0,
      warnings: [...(await pauseWarning(context, plan)), ...explanation.warnings],
      would_not_start: problems.length === 0 ? null : problems.join('\n'),
      ...reportBudgets(budgets),
    };
  } catch (error) {
    if (error instanceof LinkError) throw new CliError(error.message);
    throw error;
  }
}

/** A warning if the route is paused; empty if it is not. */
async function pauseWarning(context: CliContext, { profile, name, mode }: RoutePlan): Promise<readonly string[]> {
  const { paused: pause } = (await actionsOnRoutes(context, undefined))(profile, name);
  if (pause === null) return [];
  const what = mode === 'direct' ? 'the sender gets 503 and retries' : 'events wait until the route is resumed';
  return [
    `the route is ${describePause(true, pause.until, pause.by)}: ${what}; resume it: hookwright route resume ${name}`,
  ];
}

/** What a gateway would do with a request. */
export interface Explained {
  /** Whether a gateway would accept the event. */
  readonly isTaken: boolean;
  /** Deliveries of the answer, of outputs and of a failure notice. Empty for an event that is not accepted. */
  readonly messages: readonly { readonly target: string; readonly address: Readonly<Record<string, string>> }[] | null;
  readonly json: unknown;
  readonly lines: readonly string[];
}

export async function explainSent(context: CliContext, sent: SentRequest): Promise<Explained> {
  const explanation = await explainRoute(context, { ...sent, runsScript: false });
  const { taken, outcome, deliveries, outputs = [], on_failure = [] } = explanation;
  return {
    isTaken: taken,
    // A gateway may already run, even if `serve` would not start here.
    messages: ACCEPTED_OUTCOMES.has(outcome as Outcome) ? [...deliveries, ...outputs, ...on_failure] : null,
    json: explanation,
    lines: formatExplanation(explanation, createPaint(context.colour.stdout)),
  };
}
