/**
 * The runtime for programs that embed it, such as the command line: turns a compiled table into a running service. It
 * assembles table, work and server, with defaults for the options that a program leaves out.
 */
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import type { DispatchObserver } from './dispatch/observer.ts';
import { RunningGateway } from './gateway.ts';
import { openConsole } from './gateway-console.ts';
import type { ServiceContext } from './gateway-defaults.ts';
import { catalogOf, serviceContext, tableSourceOf } from './gateway-defaults.ts';
import { Listeners } from './gateway-events.ts';
import type { GatewayOptions, ListenAddress } from './gateway-options.ts';
import { RunningService } from './gateway-running.ts';
import type { Service, ServiceOptions } from './gateway-service.ts';
import { GatewayTables } from './gateway-tables.ts';
import type { Work } from './gateway-work.ts';
import { openWork } from './gateway-work.ts';
import type { Keeper } from './intake/keeper.ts';
import { Keeping } from './intake/keeper.ts';
import { LateMetrics } from './metrics/late-metrics.ts';
import type { RuntimePart } from './module.ts';
import { gatewayFiles } from './platform/node-files.ts';
import type { JobRecord } from './store/job-mutations.ts';
import { Enrolments } from './verify/enrolment.ts';
import { storeCaptured } from './verify/store-captured.ts';

/**
 * Links the table and opens the store; nothing listens or runs yet. Rejects with TableError listing everything that
 * prevents serving the table, with StoreRefused when the store cannot be used.
 * @param modules the runtime parts of the program's modules
 */
export async function createService(options: ServiceOptions, modules: readonly RuntimePart[]): Promise<Service> {
  const context = serviceContext(options);
  const { home, clock, log, redactor, secrets } = context;
  const { lowerSubscriptions } = options;
  const events = new Listeners(log);
  const metrics = new LateMetrics();
  const enrolments = new Enrolments({ clock, store: (plan, secret) => storeCaptured(context, plan, secret) });
  const catalog = catalogOf(options, clock);
  // Empty until the store is open.
  let storedJobs = (): readonly JobRecord[] => [];
  const openKeeper = async (): Promise<Keeper> => {
    const load = modules.find(({ keeper }) => keeper !== null)?.keeper ?? null;
    if (load === null) throw new Error('no module of this program keeps requests');
    const rows = work.store.state?.requests ?? null;
    return (await load())({ home, rows, table: () => tables.plan, secrets: () => redactor.secrets, clock, log });
  };
  const keeping = new Keeping(openKeeper, log);
  const gatewayOptions: Omit<GatewayOptions, 'dispatcher' | 'drain'> = {
    ...context,
    modules,
    ...{ host: options.host, port: options.port, files: gatewayFiles, catalog },
    source: tableSourceOf(options, clock),
    lowerSubscriptions: (text, plan) => lowerSubscriptions?.(text, plan, storedJobs()) ?? { routes: [], rejected: [] },
    keeping,
    capture: (plan) => enrolments.capture(plan),
    onRequest: metrics.onRequest,
    onTableLoad: metrics.onTableLoad,
  };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const tables = new GatewayTables(gatewayOptions);
  const work = await openServiceWork(context, options, {
    modules,
    tables,
    observer: observe(metrics.observer, events),
  });
  await keeping.prepare(Object.values(tables.plan.routes));
  storedJobs = () => work.jobs();
  tables.shareWindows(work.store);
  const gateway = new RunningGateway(tables, {
    ...gatewayOptions,
    isPending: (path) => work.isPending(path),
    dispatcher: work.dispatcher,
    drain: (timeoutMs) => work.stop(timeoutMs),
    prepare: async (next) => {
      await keeping.prepare(Object.values(next.routes));
      return work.prepare(next);
    },
  });
  await gateway.begin();
  return new RunningService({
    ...{ tables, gateway, work, keeping, metrics, enrolments, events, catalog },
    startedAt: clock.now(),
    store: work.storeForCallers,
    openConsole: (readiness, read) => openConsole(tables.plan, { secrets, readiness, metrics: read, log }),
  });
}

interface WorkInput {
  readonly modules: readonly RuntimePart[];
  readonly tables: GatewayTables;
  readonly observer: DispatchObserver;
}

/** Loads the first table, and opens the work that it names. */
async function openServiceWork(
  context: ServiceContext,
  { agent, timezone, problem, version = '' }: ServiceOptions,
  { modules, tables, observer }: WorkInput,
): Promise<Work> {
  const { log, redactor } = context;
  const first = await tables.load();
  const workContext = {
    ...context,
    modules,
    beforeCommit: () => log.flush?.(),
    agent: typeof agent === 'object' ? agent.default : (agent ?? null),
    observer,
    redact: redactor.redact,
    timezone: timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    node: {
      url: () => nodeUrl(tables.listening ?? tables.addressFor(tables.plan.server)),
      version,
      table: () => tables.state.hash,
      problem: () => problem?.() ?? tables.state.error,
    },
  };
  return openWork(workContext, first);
}

/** The URL of this gateway for operators of other gateways, with the host's name instead of a wildcard address. */
function nodeUrl({ host, port }: ListenAddress): string {
  const name = host === '' || host === '0.0.0.0' || host === '::' ? hostname() : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function observe(counts: DispatchObserver, events: Listeners): DispatchObserver {
  return {
    ...counts,
    finished: (owner, state, reason) => {
      counts.finished?.(owner, state, reason);
      const { id, profile, route, job } = owner;
      events.emit('finished', { id, profile, route, job, state, reason });
    },
  };
}
