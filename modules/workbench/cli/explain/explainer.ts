/** Explains requests to the routes of a table, which are linked on first use. */

import { agentPlan } from '../../../../base/agent-plan.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { FindInstallation } from '../../../../runtime/dispatch/installation.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { Ids } from '../../../../runtime/platform/ids.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import { EXAMPLE_INSTALLATION } from '../../../../runtime/table/loop-marker.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { ExplainRequest } from '../../runtime/explain/explain-request.ts';
import { explainRequest } from '../../runtime/explain/explain-request.ts';
import type { DryContext } from '../../runtime/explain/explain-services.ts';
import { createDryDispatcher } from '../../runtime/explain/explain-services.ts';
import type { ExplainedRoute } from '../../runtime/explain/link-explained.ts';
import { linkExplained, NO_SECRETS } from '../../runtime/explain/link-explained.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import { configuredJobState, deliveryRefusal, homeChannels, listFiles, marksFor } from './machine-services.ts';

/** See `ExplainRequest`. */
interface Asked extends Pick<ExplainRequest, 'request' | 'event' | 'runScript' | 'verifiedBy' | 'cameAt'> {
  /** The route checks no signature: its secret is a reference to `INSECURE_NO_AUTH`, and no secret is read. */
  readonly isOpen?: boolean;
}

export interface Explainer {
  readonly table: RouteTable;
  readonly planOf: (profile: string, route: string) => RoutePlan | null;
  /** @param plan of the table, or of a subscription @throws LinkError when the route cannot be served for another reason than a secret */
  readonly linked: (plan: RoutePlan) => Promise<ExplainedRoute>;
  /** @throws LinkError as `linked` does */
  readonly explain: (plan: RoutePlan, asked: Asked) => Promise<Explanation>;
}

/** What an explanation depends on besides the table and the request. */
export interface ExplainedWorld extends Omit<DryContext, 'refusal'> {
  /** Null: signatures are not verified, and no secret is read. */
  readonly secrets: SecretResolver | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly installation: FindInstallation;
}

/** The time of every event, in Unix ms. */
const INSTANT = Date.UTC(2026, 0, 1);
/** Used in place of a generated delivery id. */
const NO_ID = 'test';
/** Used as the random id in the markers of untrusted text. */
const NO_MARKER = '000000000000';

/** Independent of time, randomness, secrets and store. @param storedJobs jobs created at run time, which an event may fire */
export function fixedWorld(table: RouteTable, storedJobs: readonly { readonly id: string }[] = []): ExplainedWorld {
  const stored = new Set(storedJobs.map(({ id }) => id));
  return {
    secrets: null,
    clock: { ...systemClock, now: () => INSTANT, monotonic: () => 0 },
    ids: { dispatch: () => NO_ID, delivery: () => NO_ID, marker: () => NO_MARKER },
    installation: async () => EXAMPLE_INSTALLATION,
    jobState: (profile, id) => (stored.has(id) ? 'accepted' : configuredJobState(table, profile, id)),
  };
}

export function createExplainer(
  context: Pick<CliContext, 'home' | 'env' | 'clock'>,
  table: RouteTable,
  { secrets, clock, ids, installation, ...store }: ExplainedWorld,
): Explainer {
  const plans = new Map(Object.values(table.routes).map((plan) => [nameOf(plan.profile, plan.name), plan]));
  const links = new Map<RoutePlan, Promise<ExplainedRoute>>();
  const openPlans = new Map<RoutePlan, RoutePlan>();
  // The same object each time, because links are kept by plan.
  const openPlan = (plan: RoutePlan): RoutePlan => {
    const open = openPlans.get(plan) ?? { ...plan, insecure: true };
    openPlans.set(plan, open);
    return open;
  };
  const warnings = new Warnings();
  const { home, env } = context;
  const linking = { home, userHome: userHome(env), files: listFiles(gatewayFiles), secrets, clock, warnings };
  const known = secrets ?? NO_SECRETS;
  const refusal = deliveryRefusal(context, table, known);
  const explaining = {
    ...{
      clock,
      ids,
      installation,
      dispatcher: createDryDispatcher({ refusal, ...store }),
      homeChannel: homeChannels(table, known),
    },
    // Loads every driver, which many explanations in a row can do without.
    refusal: secrets === null ? null : refusal,
  };
  const link = async (plan: RoutePlan): Promise<ExplainedRoute> =>
    linkExplained(plan, table, { ...linking, marks: await marksFor([plan]) });
  const linked = (plan: RoutePlan): Promise<ExplainedRoute> => {
    const found = links.get(plan) ?? link(plan);
    links.set(plan, found);
    return found;
  };
  return {
    table,
    planOf: (profile, route) => plans.get(nameOf(profile, route)) ?? null,
    linked,
    async explain(plan, { isOpen = false, ...asked }) {
      const { [plan.profile]: profile } = table.profiles;
      const runs = profile === undefined ? null : agentPlan(profile, plan.agent);
      const input = {
        ...asked,
        ...(await linked(isOpen ? openPlan(plan) : plan)),
        agent: runs?.kind ?? null,
        ...(runs?.kind === 'command' && runs.sandbox !== null ? { sandbox: runs.sandbox } : {}),
        warnings: new Warnings(warnings),
      };
      return explainRequest(input, explaining);
    },
  };
}

const nameOf = (profile: string, route: string): string => JSON.stringify([profile, route]);
