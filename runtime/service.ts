/**
 * The runtime for programs that embed it, the command line among them: a compiled table in, a running service out. Here it is
 * put together: defaults for what a program leaves out, then table, work and server, each made once.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Catalog, RouteTable } from '../schemas/generated/types.ts';
import type { KeptRequests } from './capture/kept-request.ts';
import { LateCapture } from './capture/late-capture.ts';
import type { Readiness } from './console/readiness.ts';
import { readinessOf } from './console/readiness.ts';
import { ControlError } from './control/control-error.ts';
import type { EnrollReport, ReplayReport } from './control/operations.ts';
import { Redactor } from './deliver/redact.ts';
import type { DispatchObserver } from './dispatch/observer.ts';
import { RunningGateway } from './gateway.ts';
import type { OpenConsole } from './gateway-console.ts';
import { openConsole } from './gateway-console.ts';
import { Listeners } from './gateway-events.ts';
import type { GatewayOptions, ListenAddress } from './gateway-options.ts';
import { secretReader } from './gateway-secrets.ts';
import type {
  Service,
  ServiceEvents,
  ServiceLog,
  ServiceOptions,
  ServiceStatus,
  StopResult,
} from './gateway-service.ts';
import { GatewayTables } from './gateway-tables.ts';
import type { Work } from './gateway-work.ts';
import { openWork } from './gateway-work.ts';
import { catalogFile, catalogValue, SwappableCatalog } from './intake/catalog-source.ts';
import type { RequestOrigin } from './intake/fetch-request.ts';
import { LateMetrics } from './metrics/late-metrics.ts';
import { systemClock } from './platform/clock.ts';
import { createIds } from './platform/ids.ts';
import { createLogger } from './platform/logger.ts';
import { gatewayFiles } from './platform/node-files.ts';
import { runProcess } from './platform/process/run-process.ts';
import { userHome } from './platform/secrets/machine-secrets.ts';
import { SharedClock } from './platform/shared-clock.ts';
import type { JobRecord } from './store/job-mutations.ts';
import { byMachineClock } from './store/shift-instants.ts';
import type { Store } from './store/store.ts';
import { tableFile, tableValue } from './table/table-source.ts';
import type { TableState } from './table/tables.ts';
import { Enrolments } from './verify/enrolment.ts';
import { storeCaptured } from './verify/store-captured.ts';

/** One turn of waiting for a secret, in ms: short, because a stop waits for it. */
const ENROLL_TURN_MS = 2000;

/**
 * Links the table and opens the store; nothing listens or runs yet.
 * @throws TableError naming everything that stands in the way of the table; StoreRefused when the store cannot be used
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { home, table, agent, env = { ...process.env }, random = randomBytes } = options;
  const clock = new SharedClock(options.clock ?? systemClock);
  const redactor = options.redactor ?? new Redactor();
  const log: ServiceLog = options.log ?? defaultLog(redactor);
  const run = options.run ?? ((request) => runProcess(request, clock));
  const folders = { home, userHome: userHome(env) };
  const events = new Listeners(log);
  const metrics = new LateMetrics();
  const enrolments = new Enrolments({ clock, store: (plan, secret) => storeCaptured(folders, plan, secret) });
  const shared = {
    ...{ home, env, clock, log, run, ids: createIds(random) },
    secrets: secretReader({
      ...{ sources: { env, home, projectEnv: options.projectEnv }, redactor },
      onRead: options.onSecretsRead ?? (() => {}),
      check: options.checkSecrets ?? ((secrets) => secrets),
    }),
  };
  const catalog = catalogOf(options);
  // None are known before the store is open.
  let storedJobs = (): readonly JobRecord[] => [];
  const { lowerSubscriptions } = options;
  const gatewayOptions: Omit<GatewayOptions, 'dispatcher' | 'drain'> = {
    ...shared,
    ...{ userHome: folders.userHome, host: options.host, port: options.port, files: gatewayFiles },
    source: 'file' in table ? tableFile(table.file, gatewayFiles, clock) : tableValue(table),
    catalog,
    lowerSubscriptions: (text, plan) => lowerSubscriptions?.(text, plan, storedJobs()) ?? { routes: [], rejected: [] },
    capture: (plan) => enrolments.capture(plan),
    onRequest: metrics.onRequest,
    onTableLoad: metrics.onTableLoad,
  };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const tables = new GatewayTables(gatewayOptions);
  const capture = new LateCapture(home, {
    ...{ clock, log },
    secrets: () => redactor.secrets,
    table: () => tables.plan,
  });
  const first = await tables.load();
  const work = await openWork(
    {
      ...shared,
      follow: options.clock === undefined ? clock.follow : () => {},
      flushLog: () => log.flush?.(),
      agent: typeof agent === 'object' ? agent.default : (agent ?? null),
      observer: observe(metrics.observer, events),
      redact: redactor.redact,
      timezone: options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      node: {
        url: nodeUrl(tables.addressFor(first.server)),
        version: options.version ?? '',
        table: () => tables.state.hash,
        problem: () => tables.state.error,
      },
    },
    first,
  );
  storedJobs = () => work.jobs();
  tables.shareWindows(work.store);
  const gateway = new RunningGateway(tables, {
    ...gatewayOptions,
    keep: capture.keep,
    dispatcher: work.dispatcher,
    drain: (timeoutMs) => work.stop(timeoutMs),
    prepare: (next) => work.prepare(next),
  });
  await gateway.begin();
  return new RunningService({
    tables,
    gateway,
    work,
    capture,
    metrics,
    enrolments,
    events,
    catalog,
    startedAt: clock.now(),
    store: byMachineClock(work.store, () => clock.offset),
    openConsole: (readiness, read) =>
      openConsole(tables.plan, { secrets: shared.secrets, readiness, metrics: read, log }),
  });
}

/** Where the other gateways' operators find this one: a wildcard address means nothing to them. */
function nodeUrl({ host, port }: ListenAddress): string {
  const name = host === '' || host === '0.0.0.0' || host === '::' ? hostname() : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

interface ServiceParts {
  readonly tables: GatewayTables;
  readonly gateway: RunningGateway;
  readonly work: Work;
  readonly capture: LateCapture;
  readonly metrics: LateMetrics;
  readonly enrolments: Enrolments;
  readonly events: Listeners;
  readonly catalog: SwappableCatalog;
  /** Unix ms. */
  readonly startedAt: number;
  /** For those outside, who go by the machine's clock. */
  readonly store: Store;
  readonly openConsole: (readiness: () => Readiness, metrics: Service['metrics']) => Promise<OpenConsole | null>;
}

class RunningService implements Service {
  private readonly parts: ServiceParts;
  private started = false;
  private stopping: Promise<StopResult> | null = null;
  private console: OpenConsole | null = null;

  constructor(parts: ServiceParts) {
    this.parts = parts;
  }

  get table(): RouteTable {
    return this.parts.tables.plan;
  }

  get tableState(): TableState {
    return this.parts.tables.state;
  }

  get store(): Store {
    return this.parts.store;
  }

  get jobs(): readonly JobRecord[] {
    return this.parts.work.jobs();
  }

  async listen(at?: Partial<ListenAddress>): Promise<ListenAddress & { readonly url: string }> {
    this.console ??= await this.parts.openConsole(
      () => readinessOf(this.parts.gateway.status(), this.store.problem()),
      () => this.metrics(),
    );
    const address = await this.parts.gateway.listen(at);
    this.start();
    void this.parts.metrics.load();
    this.parts.capture.start();
    return address;
  }

  handle(request: Request, from?: RequestOrigin): Promise<Response> {
    this.start();
    return this.parts.gateway.handle(request, from);
  }

  start(): void {
    if (this.started || this.stopping !== null) return;
    this.started = true;
    this.parts.work.start();
  }

  async swap(table: RouteTable, blueprints?: Catalog): Promise<void> {
    await this.parts.tables.swap(table);
    if (blueprints !== undefined) this.parts.catalog.use(catalogValue(blueprints));
  }

  reload(relink?: boolean): Promise<boolean> {
    return this.parts.gateway.reload(relink);
  }

  async status(): Promise<ServiceStatus> {
    const { gateway, work, startedAt } = this.parts;
    return { ...gateway.status(), console: this.console?.url ?? null, startedAt, ...(await work.status()) };
  }

  requests(): Promise<KeptRequests> {
    return this.parts.capture.requests();
  }

  async replay(id: string): Promise<ReplayReport> {
    const found = await (await this.requests()).load(id);
    if (found.kind !== 'found') throw new ControlError('refused', `${found.kind} request "${id}"`);
    const { whyNotReplayable } = await import('./capture/replay-request.ts');
    const why = whyNotReplayable(found.request);
    if (why !== null) throw new ControlError('refused', `${found.request.id} cannot be sent again: ${why}`);
    const report = await this.parts.gateway.replay(found.request);
    if (report !== null) return report;
    throw new ControlError('refused', `no route is at ${found.request.path} any more`);
  }

  async metrics(): ReturnType<Service['metrics']> {
    const { metrics, gateway, work, capture } = this.parts;
    const { table, subscriptions } = gateway.status();
    return metrics.read({
      generation: table.generation,
      routes: table.routes,
      subscriptions: subscriptions.serving,
      quarantined: subscriptions.quarantined.length,
      capture: capture.counts,
      ...(await work.figures()),
    });
  }

  /** A captured secret counts at once: the sender's first event may be on its way. */
  async enroll({ profile, route }: Parameters<Service['enroll']>[0]): Promise<EnrollReport> {
    const captured = await this.parts.enrolments.wait(profile, route, ENROLL_TURN_MS);
    if (captured === null) return { kind: 'waiting', file: null, reason: null };
    if (captured.kind === 'failed') return { kind: 'failed', file: null, reason: captured.reason };
    await this.reload(true);
    return { kind: 'stored', file: captured.file, reason: null };
  }

  changed(): void {
    this.parts.work.changed();
  }

  on<Name extends keyof ServiceEvents>(name: Name, listener: (event: ServiceEvents[Name]) => void): () => void {
    return this.parts.events.on(name, listener);
  }

  stop({ drainMs }: { readonly drainMs?: number } = {}): Promise<StopResult> {
    this.stopping ??= this.stopAndClose(drainMs === undefined ? undefined : drainMs / 1000);
    return this.stopping;
  }

  private async stopAndClose(drainSeconds: number | undefined): Promise<StopResult> {
    const { gateway, tables, work, capture } = this.parts;
    try {
      if (this.started) return await gateway.stop(drainSeconds);
      // Nothing was served: there is nothing to drain.
      tables.stop();
      return { drained: true, abandoned: 0 };
    } finally {
      await capture.close();
      await work.close();
      await this.console?.close();
    }
  }
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

/** By default the catalog that was written beside the table. */
function catalogOf({ table, blueprints, clock = systemClock }: ServiceOptions): SwappableCatalog {
  if (blueprints !== undefined) return new SwappableCatalog(catalogValue(blueprints));
  if (!('file' in table)) return new SwappableCatalog(catalogValue([]));
  return new SwappableCatalog(catalogFile(join(dirname(table.file), 'blueprints.json'), gatewayFiles, clock));
}

function defaultLog(redactor: Redactor): ServiceLog {
  return createLogger({
    ...{ stream: process.stderr, level: 'warn', pretty: false, colour: false, clock: systemClock },
    redact: redactor.redact,
  });
}
