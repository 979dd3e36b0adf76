/**
 * The parts of the work of a service, created once, in one order: the first table with its targets and agents, the store, the
 * scheduler of jobs, what modules add, and the dispatcher.
 */
import { randomBytes } from 'node:crypto';
import { readRegularText } from '../../base/files.ts';
import { agentPlans, own } from '../../base/names.ts';
import { realTarget } from '../../base/spec-names.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { readinessOf } from '../console/status.ts';
import { ControlError } from '../control/control-error.ts';
import { createDeliverer } from '../deliver/create-deliverer.ts';
import { createDeliveryContext } from '../deliver/delivery-context.ts';
import type { LinkedTargets } from '../deliver/link-targets.ts';
import { isUsed, linkTargets, loadDrivers } from '../deliver/link-targets.ts';
import { createMirror, fileSessions } from '../deliver/sessions.ts';
import type { Agents } from '../dispatch/agents/create-agents.ts';
import { createAgents } from '../dispatch/agents/create-agents.ts';
import { withApprovals } from '../dispatch/asked-approvals.ts';
import type { RetryPolicy, WatchedState } from '../dispatch/context.ts';
import { createDispatcher } from '../dispatch/create-dispatcher.ts';
import type { Observers } from '../dispatch/dispatcher.ts';
import { findInstallation } from '../dispatch/own-message.ts';
import { JobScheduler } from '../dispatch/scheduler/scheduler.ts';
import { RequestCapture } from '../intake/keeper.ts';
import type { OpenedStore, RunLimits, Tracing } from '../module.ts';
import { findPart, loadChanges, loadTracing, requirePart } from '../module.ts';
import { Lazy } from '../platform/lazy.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import { explainSecrets, tableSecretRefs } from '../platform/secrets.ts';
import type { AgentLimit } from '../store/contract.ts';
import { StoreRefused } from '../store/contract.ts';
import type { JobRecord } from '../store/records.ts';
import { openMemoryStore, openServerStore } from '../store/sqlite/open-store.ts';
import { storePath } from '../store/store-path.ts';
import { TableError } from '../table/table-source.ts';
import type { ServiceContext } from './context.ts';
import { LazyApprovals, LazyGuard, openLimits } from './parts.ts';
import type { Routes } from './routes.ts';

/** Maximum size of a skill, in bytes; a prompt contains it. */
const MAX_SKILL_BYTES = 4 * 1024 * 1024;

type OpenDeliveries = ReturnType<typeof createDeliveryContext>;

/** A table with its linked targets and agents. */
interface LinkedWork {
  readonly table: RouteTable;
  readonly secrets: SecretResolver;
  readonly targets: LinkedTargets;
  readonly agents: Agents;
  readonly limits: readonly AgentLimit[];
}

/** Links the targets and agents of a table. Rejects with TableError that names all missing credentials. */
export async function linkWork(
  context: ServiceContext,
  deliveries: OpenDeliveries,
  table: RouteTable,
): Promise<LinkedWork> {
  const secrets = await context.secrets(tableSecretRefs(table), table.server.host);
  const drivers = await loadDrivers(table, deliveries.context);
  const { linked: targets, problems } = linkTargets(table, secrets, deliveries.context, drivers);
  // An unused target without a driver counts as not enabled.
  const faults = problems.filter(({ noDriver, profile, target }) => !noDriver || isUsed(table, profile, target));
  if (faults.length > 0) {
    const lines = faults.map(({ profile, label, message }) => `target ${label} of profile ${profile}: ${message}`);
    throw new TableError(lines.join('\n'));
  }
  const { redact } = context.redactor;
  const readText = (path: string): Promise<string> => readRegularText(path, MAX_SKILL_BYTES);
  const { confine } = context.confinement;
  const usesPrograms = Object.values(table.profiles).some((profile) =>
    agentPlans(profile).some(([, plan]) => 'program' in plan),
  );
  const openProgram = usesPrograms ? await findPart(context.modules, 'programs') : null;
  const agentContext = { ...context, confine, secrets, redact, readText, http: deliveries.http, openProgram };
  const create = (): Agents => createAgents(table, agentContext);
  const agents = explainSecrets(create, (reason) => new TableError(reason));
  return { table, secrets, targets, agents, limits: limitsOfAgents(table) };
}

/** Limits of concurrent runs of agents, where there are any. */
export const limitsOfAgents = ({ profiles }: Pick<RouteTable, 'profiles'>): readonly AgentLimit[] =>
  Object.values(profiles).flatMap((profile) =>
    agentPlans(profile).flatMap(([agent, { max_concurrent }]) =>
      max_concurrent === null ? [] : [{ profile: profile.name, agent, max_concurrent }],
    ),
  );

/** Opens a file of the home, memory, or the store of a module. */
async function openStore(
  context: ServiceContext,
  { routes, failed }: Pick<OpenParts, 'routes' | 'failed'>,
  secrets: SecretResolver,
): Promise<OpenedStore> {
  const { home, log, modules, version, problem, inMemory } = context;
  const { store: plan, durability } = routes.plan.gateway;
  const beforeCommit = (): void => log.flush?.();
  const parts = await loadChanges(modules);
  if (inMemory || plan.kind === 'sqlite') {
    const rescue = inMemory ? null : await findPart(modules, 'rescue');
    const store = inMemory
      ? await openMemoryStore({ log, parts, beforeCommit, failed })
      : await openServerStore({ path: storePath(home), durability, log, rescue, parts, beforeCommit, failed });
    return { store, forCallers: store, isPending: () => false };
  }
  const open = await findPart(modules, 'store');
  if (open === null)
    throw new StoreRefused(`gateway.store: ${plan.kind} needs the module cluster, which is not loaded`);
  const node = {
    url: () => routes.operatorUrl(),
    version,
    table: () => routes.tables.status.hash,
    problem: () => problem() ?? routes.tables.status.error,
  };
  return open({ ...context, beforeCommit, parts, node }, plan, secrets);
}

/** Notified when stored work may be due. It is created before the dispatcher, which listens to it. */
class Due {
  private listener: () => void = () => {};
  readonly wake = (): void => this.listener();

  listen(listener: () => void): void {
    this.listener = listener;
  }
}

/** The parts of the work, in the order of their creation. */
export type WorkParts = ReturnType<typeof connectParts>;

export interface OpenParts {
  /** Routes with the first table loaded. */
  readonly routes: Routes;
  readonly observers: Observers;
  /** Called with the reason when the store has failed permanently. */
  readonly failed: (reason: string) => void;
}

/**
 * Links the first table, opens the store, and creates everything that uses it. Rejects with TableError that names all missing
 * credentials, or StoreRefused if the store cannot be used.
 */
export async function assembleWork(context: ServiceContext, parts: OpenParts): Promise<WorkParts> {
  const { routes, observers } = parts;
  const deliveries = createDeliveryContext(context);
  try {
    const first = await linkWork(context, deliveries, routes.plan);
    const limits = await findPart(context.modules, 'limits');
    const opened = await openStore(context, parts, first.secrets);
    const tracing = await loadTracing(context.modules);
    return connectParts(context, { routes, observers, deliveries, first, limits, opened, tracing });
  } catch (error) {
    await deliveries.close();
    throw error;
  }
}

interface Openings extends Omit<OpenParts, 'failed'> {
  readonly deliveries: OpenDeliveries;
  readonly first: LinkedWork;
  readonly limits: RunLimits | null;
  readonly opened: OpenedStore;
  readonly tracing: Tracing | null;
}

function connectParts(context: ServiceContext, openings: Openings) {
  const { routes, observers, deliveries, first, opened, tracing } = openings;
  const { clock, log, ids, timezone, modules, redactor, home, inMemory } = context;
  const { redact } = redactor;
  const { store } = opened;
  const serving: Serving = { linked: first, jobs: [] };
  const table = (): RouteTable => serving.linked.table;
  const due = new Due();
  const { wake } = due;
  const sessions = store.state?.sessions ?? fileSessions(deliveries.context.homeOf);
  const mirror = createMirror({ clock, log, sessions });
  const deliverer = createDeliverer({ linked: first.targets, context: deliveries.context, mirror, redact });
  const limits = openLimits(openings.limits, { table, timezone });
  const useJobs = async (records: readonly JobRecord[]): Promise<void> => {
    serving.jobs = records;
    limits.stored(records);
  };
  const scheduler = new JobScheduler({
    store,
    clock,
    log,
    ids,
    timezone,
    table,
    wake,
    tracing,
    limiter: limits,
    observer: observers.all,
    place: deliverer.place,
    changed: useJobs,
  });
  const state = (): WatchedState => {
    const status = routes.status();
    const { ready } = readinessOf(status, store);
    const problem = context.problem() ?? status.table.error;
    const { quarantined: rejected } = status.subscriptions;
    return { ready, rejected, problem, url: routes.operatorUrl(), overdueJob: scheduler.overdue() };
  };
  const heartbeatUrl = (): string | null => {
    const { heartbeat = null } = table().gateway;
    return heartbeat === null ? null : serving.linked.secrets.resolve(heartbeat.url);
  };
  const guardContext = { store, deliverer, clock, ids, log, table, state, http: deliveries.http, heartbeatUrl, wake };
  const guarding = new LazyGuard(modules, guardContext, observers);
  const approving = new LazyApprovals(modules, { ...guardContext, alerts: guarding, sending: deliveries.context });
  const statuses = new Lazy(async () => {
    const opened = (await requirePart(modules, 'statuses'))({ store, clock, log });
    observers.add({ finished: ({ id }) => opened.finished(id) });
    return opened;
  });
  const installation = findInstallation(store, randomBytes);
  const progress = new Lazy(async () => {
    const open = await requirePart(modules, 'progress');
    return open({ ...guardContext, installation, observers });
  });
  const keeper = new Lazy(async () => {
    if (inMemory) throw new ControlError('refused', 'requests are not captured when the store is in memory');
    const open = await requirePart(modules, 'keeper');
    const rows = store.state?.requests ?? null;
    return open({ home, rows, table: () => routes.plan, secrets: () => redactor.secrets, clock, log });
  });
  const keeping = new RequestCapture(keeper, log);
  const dispatcher = createDispatcher({
    store,
    clock,
    log,
    ids,
    observer: observers.all,
    jobs: scheduler,
    limiter: limits,
    installation,
    redact,
    deliverer: tracing?.deliverer(deliverer) ?? deliverer,
    agents: (profile, name) => {
      const agent = serving.linked.agents(profile, name);
      return agent === null ? null : (tracing?.agent(agent) ?? agent);
    },
    policy: (profile, target) => policyOf(table(), profile, target),
    limits: () => table().gateway,
    agent_limits: () => serving.linked.limits,
    random: Math.random,
    outputs: () => requirePart(modules, 'outputs'),
    asked: (dispatch) => withApprovals(table(), dispatch),
    blocked: () => approving.asked(),
  });
  due.listen(() => dispatcher.wake());
  const events = { statuses, progress };
  const parts = { serving, deliveries, deliverer, limits, useJobs, scheduler, guarding, approving, events, keeping };
  return { ...parts, opened, tracing, installation, dispatcher };
}

/** State that is replaced while the service runs. */
interface Serving {
  linked: LinkedWork;
  /** Jobs created at run time, as of their last change. */
  jobs: readonly JobRecord[];
}

/** A target without its own binding (`log`) uses the gateway's policy. */
function policyOf({ profiles, gateway }: RouteTable, profile: string, target: string): RetryPolicy {
  return own(own(profiles, profile)?.targets ?? {}, realTarget(target)) ?? gateway;
}
