/** Explains many requests to the routes of a table, which are linked on first use; independent of time, randomness, secrets and store. */
import type { CliContext } from '../../../../cli/base/context.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { ExplainContext } from '../../runtime/explain/explain-services.ts';
import { createDryDispatcher } from '../../runtime/explain/explain-services.ts';
import type { ExplainedRoute } from '../../runtime/explain/link-explained.ts';
import { linkExplained } from '../../runtime/explain/link-explained.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import { configuredJobState, deliveryRefusal, listFiles, marksFor } from './machine-services.ts';

export interface Explainer {
  readonly table: RouteTable;
  readonly planOf: (profile: string, route: string) => RoutePlan | null;
  /** @throws LinkError when the route cannot be served for another reason than a secret */
  readonly linked: (plan: RoutePlan) => ExplainedRoute;
  readonly explaining: ExplainContext;
}

/** The time of every event, in Unix ms. */
const INSTANT = Date.UTC(2026, 0, 1);
/** Used in place of a generated delivery id. */
const NO_ID = 'test';
/** Used as the random id in the markers of untrusted text. */
const NO_MARKER = '000000000000';

/** @param storedJobs ids of jobs created at run time, which an event may fire */
export async function createExplainer(
  context: Pick<CliContext, 'home' | 'env' | 'clock'>,
  table: RouteTable,
  storedJobs: ReadonlySet<string> = new Set(),
): Promise<Explainer> {
  const plans = new Map(Object.values(table.routes).map((plan) => [nameOf(plan.profile, plan.name), plan]));
  const linked = new Map<RoutePlan, ExplainedRoute>();
  const clock = { ...systemClock, now: () => INSTANT, monotonic: () => 0 };
  const linking = {
    ...{ home: context.home, userHome: userHome(context.env), files: listFiles(gatewayFiles), secrets: null, clock },
    marks: await marksFor(Object.values(table.routes)),
    warnings: new Warnings(),
  };
  return {
    table,
    planOf: (profile, route) => plans.get(nameOf(profile, route)) ?? null,
    linked(plan) {
      const known = linked.get(plan) ?? linkExplained(plan, table, linking);
      linked.set(plan, known);
      return known;
    },
    explaining: {
      clock,
      ids: { dispatch: () => NO_ID, delivery: () => NO_ID, marker: () => NO_MARKER },
      dispatcher: createDryDispatcher({
        refusal: deliveryRefusal(context, table, NO_SECRETS),
        jobState: (profile, id) => (storedJobs.has(id) ? 'accepted' : configuredJobState(table, profile, id)),
      }),
    },
  };
}

const nameOf = (profile: string, route: string): string => JSON.stringify([profile, route]);

const NO_SECRETS = {
  resolve: (): string => {
    throw new Error('no secret is read');
  },
};
