/** Explains requests to the routes of a table, for the command line and the playground. Routes are linked on first use. */
import { agentPlan } from '../../../../base/names.ts';
import { isLoopback } from '../../../../base/net.ts';
import type { FindInstallation } from '../../../../runtime/dispatch/own-message.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { Ids } from '../../../../runtime/platform/ids.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';
import { createListOpener } from '../../../../runtime/table/in-file-set.ts';
import { linkRoute } from '../../../../runtime/table/link.ts';
import type { Authentication } from '../../../../runtime/table/link-authentication.ts';
import { linkAuthentication } from '../../../../runtime/table/link-authentication.ts';
import type { LinkContext, TableHeadPlan } from '../../../../runtime/table/link-context.ts';
import { LinkError, schemeOf } from '../../../../runtime/table/link-context.ts';
import { identityLinker } from '../../../../runtime/table/link-identity.ts';
import { EXAMPLE_INSTALLATION } from '../../../../runtime/table/link-loop.ts';
import type { Marks } from '../../../../runtime/table/link-template.ts';
import { RateWindows } from '../../../../runtime/table/rate-limit.ts';
import { linkAuthenticator } from '../../../../runtime/verify/authenticator.ts';
import { schemeLinker } from '../../../../runtime/verify/scheme.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { ExplainRequest } from './explain-request.ts';
import { explainRequest } from './explain-request.ts';
import type { DryContext, RefusesDelivery } from './explain-services.ts';
import { configuredJobState, createDryDispatcher, homeChannels, NO_SECRETS, Warnings } from './explain-services.ts';

/** See `ExplainRequest`. */
interface ExplainInput extends Pick<ExplainRequest, 'request' | 'event' | 'runScript' | 'verifiedBy' | 'cameAt'> {
  /** The route verifies no signatures: its secret is a reference to `INSECURE_NO_AUTH`, and no secret is read. */
  readonly isOpen?: boolean;
}

export interface Explainer {
  readonly table: RouteTable;
  readonly planOf: (profile: string, route: string) => RoutePlan | null;
  /** @param plan of the table, or of a subscription @throws LinkError if the route cannot be served for a reason other than a secret */
  readonly linked: (plan: RoutePlan) => Promise<ExplainedRoute>;
  /** @throws LinkError as `linked` does */
  readonly explain: (plan: RoutePlan, input: ExplainInput) => Promise<Explanation>;
}

/** Input of an explanation besides the table and the request. */
export interface ExplainedWorld extends Omit<DryContext, 'refusal'> {
  /** Null: signatures are not verified, and no secret is read. */
  readonly secrets: SecretResolver | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly installation: FindInstallation;
}

/** What explanations need from the machine, or from the playground page. */
export interface ExplainingMachine {
  readonly home: string;
  readonly userHome: string;
  readonly files: ListFiles;
  /** False: cryptography is unavailable, and signatures are not verified. */
  readonly verifies: boolean;
  /** Null: the route has no marked values. */
  readonly marks: (plan: RoutePlan) => Promise<Marks | null>;
  /** Links the drivers of all targets. Called for the first delivery that a driver may reject. */
  readonly linkRefusal: (table: RouteTable, secrets: SecretResolver) => Promise<RefusesDelivery>;
}

/** The time of every event, in Unix ms. */
const INSTANT = Date.UTC(2026, 0, 1);
/** Used instead of a generated delivery id. */
const NO_ID = 'test';
/** Used as the random id in the markers of untrusted text. */
const NO_MARKER = '000000000000';

/** A world independent of time, randomness, secrets and store. @param storedJobs jobs created at run time, which an event may fire */
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
  // Returns the same object each time, because links are cached by plan.
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
    buttons: table.callbacks === undefined ? {} : { buttons: Object.keys(table.callbacks) },
    // Loads all drivers, which many explanations do not need.
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

/** Credentials may be missing, because an address is checked without them. */
function deliveryRefusal({ targets }: RouteTable, link: () => Promise<RefusesDelivery>): RefusesDelivery {
  let drivers: Promise<RefusesDelivery> | null = null;
  return async (...args) => {
    const [, { target }] = args;
    // These targets accept everything, and need no driver.
    if (targets[target]?.driver === 'log' || targets[target]?.driver === 'local') return null;
    drivers ??= link();
    return (await drivers)(...args);
  };
}

const nameOf = (profile: string, route: string): string => JSON.stringify([profile, route]);

/** The context for linking a route as a gateway does, except that secrets may be missing. */
type ExplainLinkContext = Pick<ExplainingMachine, 'home' | 'userHome' | 'files'> &
  Pick<ExplainedWorld, 'secrets' | 'clock'> &
  Pick<LinkContext, 'marks'> &
  Pick<ExplainRequest, 'warnings'>;

export type ExplainedRoute = Pick<ExplainRequest, 'route' | 'unverified' | 'evidence'>;

/** Links a static or dynamic route. @throws LinkError if it cannot be served for a reason other than a secret */
export function linkExplained(plan: RoutePlan, table: TableHeadPlan, context: ExplainLinkContext): ExplainedRoute {
  const link = linkContext(table, context);
  const found = context.secrets === null ? NOT_ASKED : tryAuthentication(plan, table, link);
  if (typeof found !== 'string') {
    return { route: linkRoute(plan, found, table, link), unverified: null, evidence: found.evidence() };
  }
  return { route: linkRoute(plan, withoutSecrets(plan, table), table, link), unverified: found, evidence: null };
}

/** Returns the link context of a gateway; lists are read as a gateway reads them. */
export function linkContext(
  table: TableHeadPlan,
  { home, userHome, files, secrets, marks, clock, warnings }: ExplainLinkContext,
): LinkContext {
  return {
    home,
    secrets: secrets ?? NO_SECRETS,
    windows: new RateWindows(),
    linkScheme: schemeLinker(),
    linkIdentity: identityLinker(table),
    openList: createListOpener({ home, userHome, files, clock, log: warnings.log }),
    marks,
    place: () => null,
    loopback: isLoopback(table.server.host),
    capture: null,
  };
}

const NOT_ASKED = 'secrets are not read here';

/** Returns the authentication, or the reason why it cannot be linked. */
function tryAuthentication(plan: RoutePlan, table: TableHeadPlan, link: LinkContext): Authentication | string {
  try {
    return linkAuthentication(plan, table, link);
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    return error.message;
  }
}

/** An authentication with the route's schemes but without secrets. It accepts only requests to a route that verifies no signatures. */
function withoutSecrets(plan: RoutePlan, table: TableHeadPlan): Authentication {
  const schemes = plan.schemes.map((name) => schemeOf(name, plan, table));
  const { insecure, labels } = plan;
  return {
    evidence: () => ({ schemes, labels, known: Object.values(table.schemes), secrets: [], publicUrl: null }),
    authenticator: linkAuthenticator({ schemes, secrets: [], insecure, public_url: null }),
    insecure,
    handshake: null,
    awaitsSecret: null,
    deprecated: new Map(),
  };
}
