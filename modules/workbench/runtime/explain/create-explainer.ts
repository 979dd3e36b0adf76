/** Explains requests to the routes of a table, which are linked on first use: for the command line and for the playground. */

import { agentPlan } from '../../../../base/agent-plan.ts';
import type { FindInstallation } from '../../../../runtime/dispatch/installation.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { Ids } from '../../../../runtime/platform/ids.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';
import type { Marks } from '../../../../runtime/table/link-template.ts';
import { EXAMPLE_INSTALLATION } from '../../../../runtime/table/loop-marker.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { ExplainRequest } from './explain-request.ts';
import { explainRequest } from './explain-request.ts';
import type { DryContext, RefusesDelivery } from './explain-services.ts';
import { createDryDispatcher } from './explain-services.ts';
import { configuredJobState, homeChannels } from './from-table.ts';
import { NO_SECRETS } from './lenient-secrets.ts';
import type { ExplainedRoute } from './link-explained.ts';
import { linkExplained } from './link-explained.ts';
import { Warnings } from './warnings.ts';

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

/** What explanations need of the machine, or of the page in its place. */
export interface ExplainingMachine {
  readonly home: string;
  readonly userHome: string;
  readonly files: ListFiles;
  /** False: it has no cryptography, and no signature is verified. */
  readonly verifies: boolean;
  /** Null: the route has no marked values. */
  readonly marks: (plan: RoutePlan) => Promise<Marks | null>;
  /** Links the drivers of all targets; called for the first delivery that one may refuse. */
  readonly linkRefusal: (table: RouteTable, secrets: SecretResolver) => Promise<RefusesDelivery>;
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
  { home, userHome, files, verifies, marks, linkRefusal }: ExplainingMachine,
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
  const linking = { home, userHome, files, secrets: verifies ? secrets : null, clock, warnings };
  const known = secrets ?? NO_SECRETS;
  const refusal = deliveryRefusal(table, () => linkRefusal(table, known));
  const explaining = {
    clock,
    ids,
    installation,
    dispatcher: createDryDispatcher({ refusal, ...store }),
    homeChannel: homeChannels(table, known),
    // Loads every driver, which many explanations in a row can do without.
    refusal: secrets === null ? null : refusal,
  };
  const link = async (plan: RoutePlan): Promise<ExplainedRoute> =>
    linkExplained(plan, table, { ...linking, marks: await marks(plan) });
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
        limits: {
          ...(runs?.kind === 'command' && runs.sandbox !== null ? { sandbox: runs.sandbox } : {}),
          ...(typeof runs?.max_concurrent === 'number' ? { max_concurrent: runs.max_concurrent } : {}),
        },
        warnings: new Warnings(warnings),
      };
      return explainRequest(input, explaining);
    },
  };
}

/** Credentials may be missing: an address is verified without them. */
function deliveryRefusal({ targets }: RouteTable, link: () => Promise<RefusesDelivery>): RefusesDelivery {
  let drivers: Promise<RefusesDelivery> | null = null;
  return async (...asked) => {
    const [, { target }] = asked;
    // These refuse nothing, and need no driver.
    if (targets[target]?.driver === 'log' || targets[target]?.driver === 'local') return null;
    drivers ??= link();
    return (await drivers)(...asked);
  };
}

const nameOf = (profile: string, route: string): string => JSON.stringify([profile, route]);
