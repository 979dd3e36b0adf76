/**
 * The service: assembles routes, work and gateway, and implements the methods with which an embedding program controls them.
 */
import { mkdirSync } from 'node:fs';
import type { EnrollReport, ReplayReport, StopResult } from '../../schemas/built/operations/types.ts';
import type { Catalog, RouteTable } from '../../schemas/generated/types.ts';
import type { Console } from '../console/console.ts';
import type { ServiceStatus } from '../console/status.ts';
import { readFigures, readinessOf, readStatus } from '../console/status.ts';
import { ControlError } from '../control/control-error.ts';
import type { ControlHandlers } from '../control/operations.ts';
import type { DispatchObserver } from '../dispatch/dispatcher.ts';
import { Observers } from '../dispatch/dispatcher.ts';
import { catalogValue } from '../intake/documents.ts';
import type { EmitOptions, Emitted } from '../intake/emit.ts';
import type { RequestOrigin } from '../intake/fetch-request.ts';
import type { CaptureStore } from '../intake/keeper.ts';
import type { NodeListener } from '../intake/node-request.ts';
import type { ListenAddress } from '../intake/server.ts';
import { NO_METRICS } from '../metrics/metrics.ts';
import type { RuntimePart } from '../module.ts';
import { findPart, requirePart } from '../module.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/contract.ts';
import type { JobRecord } from '../store/records.ts';
import type { Credential } from '../table/link-people.ts';
import type { TableState } from '../table/tables.ts';
import { assembleWork } from './assemble-work.ts';
import type { ServiceContext } from './context.ts';
import { resolveOptions } from './context.ts';
import { Gateway } from './gateway.ts';
import type { OperatedService, ProgramOptions, Service, ServiceEvents, ServiceOptions } from './options.ts';
import { Routes } from './routes.ts';
import { Work } from './work.ts';

/** Time of one poll for a secret, in ms; short, because a stop waits for it. */
const ENROLL_POLL_MS = 2000;

/**
 * Assembles a service: table → store → dispatcher → gateway; the console is opened when it listens. Nothing listens or runs
 * yet. Rejects with TableError, which lists every reason why the table cannot be served, or StoreRefused if the store is unusable.
 * @param modules the runtime parts of the program's modules
 */
export async function createService(
  options: ServiceOptions,
  modules: readonly RuntimePart[],
  program: ProgramOptions = {},
): Promise<OperatedService> {
  const metrics = (await findPart(modules, 'metrics')) ?? NO_METRICS;
  const context = resolveOptions(options, modules, program, metrics);
  const routes = new Routes(context);
  mkdirSync(context.home, { recursive: true, mode: 0o700 });
  await routes.tables.loadFirst();
  const events = new Events(context.log);
  const observers = new Observers(metrics.observer, { finished: events.finished });
  const parts = await assembleWork(context, { routes, observers, failed: (reason) => events.fail(reason) });
  const work = new Work(context, parts);
  try {
    await work.open(routes.plan);
    await work.readJobs();
    const gateway = new Gateway(context, routes, work);
    await gateway.begin();
    return new RunningService(context, { routes, work, gateway, events });
  } catch (error) {
    routes.tables.stop();
    await work.close();
    throw error;
  }
}

/** The service as programs get it: without the members that only commands use. */
export const publicService = (service: OperatedService): Service => ({
  get table() {
    return service.table;
  },
  get subscriptions() {
    return service.subscriptions;
  },
  get jobs() {
    return service.jobs;
  },
  node: service.node,
  listen: (at) => service.listen(at),
  handle: (...request) => service.handle(...request),
  emit: (...event) => service.emit(...event),
  start: () => service.start(),
  swap: (...tables) => service.swap(...tables),
  reload: (relink) => service.reload(relink),
  status: () => service.status(),
  requests: () => service.requests(),
  replay: (...request) => service.replay(...request),
  metrics: () => service.metrics(),
  on: (...listener) => service.on(...listener),
  stop: (within) => service.stop(within),
});

type Listener<Name extends keyof ServiceEvents> = (event: ServiceEvents[Name]) => void;

/** The listeners of the embedding program. An error of one is logged and has no other effect. */
class Events {
  readonly listeners: { readonly [Name in keyof ServiceEvents]: Set<Listener<Name>> } = {
    finished: new Set(),
    failed: new Set(),
  };
  private readonly log: Logger;
  private failure: ServiceEvents['failed'] | null = null;

  constructor(log: Logger) {
    this.log = log;
  }

  readonly finished: NonNullable<DispatchObserver['finished']> = ({ id, profile, route, job }, state, reason, answer) =>
    this.emit('finished', { id, profile, route, job, state, reason, answer });

  fail(reason: string): void {
    this.failure = { reason };
    this.emit('failed', this.failure);
  }

  /** Listeners that are added after a failure receive it immediately. */
  add<Name extends keyof ServiceEvents>(name: Name, listener: Listener<Name>): void {
    this.listeners[name].add(listener);
    if (name === 'failed' && this.failure !== null) this.emit('failed', this.failure, [listener as Listener<'failed'>]);
  }

  private emit<Name extends keyof ServiceEvents>(
    name: Name,
    event: ServiceEvents[Name],
    to: Iterable<Listener<Name>> = this.listeners[name],
  ): void {
    for (const listener of to) {
      try {
        listener(event);
      } catch (error) {
        this.log.error({ err: error, event: name }, 'a listener of the embedding program failed');
      }
    }
  }
}

interface ServiceParts {
  readonly routes: Routes;
  readonly work: Work;
  readonly gateway: Gateway;
  readonly events: Events;
}

class RunningService implements OperatedService {
  private readonly context: ServiceContext;
  private readonly routes: Routes;
  private readonly work: Work;
  private readonly gateway: Gateway;
  private readonly events: Events;
  /** Unix ms. */
  private readonly startedAt: number;
  private started = false;
  private stopping: Promise<StopResult> | null = null;
  /** The console; null: the table has none, or it is not open yet. */
  private console: Console | null = null;

  constructor(context: ServiceContext, { routes, work, gateway, events }: ServiceParts) {
    this.context = context;
    this.routes = routes;
    this.work = work;
    this.gateway = gateway;
    this.events = events;
    // From now on every request gets 503. In a microtask, because a listener of the program may end the process.
    events.add('failed', () => queueMicrotask(() => void this.stop({ drainMs: 0 })));
    this.startedAt = context.clock.now();
  }

  readonly place: OperatedService['place'] = (...of) => this.work.place(...of);

  get publicUrl(): string | null {
    return this.routes.status().url;
  }

  get table(): RouteTable {
    return this.routes.plan;
  }

  get tableState(): TableState {
    return this.routes.tables.status;
  }

  get store(): Store {
    return this.work.forCallers;
  }

  get subscriptions(): Service['subscriptions'] {
    const { routes, rejected } = this.routes.subscriptions;
    return { routes: [...routes.values()].map(({ plan }) => plan), rejected };
  }

  get jobs(): readonly JobRecord[] {
    return this.work.jobs();
  }

  async listen(
    at?: Partial<ListenAddress>,
    operations: ControlHandlers | null = null,
  ): Promise<ListenAddress & { readonly url: string }> {
    this.console ??= await this.openConsole(operations);
    const address = await this.gateway.listen(at);
    this.start();
    return address;
  }

  handle(request: Request, from?: RequestOrigin): Promise<Response> {
    this.start();
    return this.gateway.handle(request, from);
  }

  readonly node: NodeListener = (...request) => {
    this.start();
    this.gateway.node(...request);
  };

  emit(route: string, payload: unknown, options?: EmitOptions): Promise<Emitted> {
    this.start();
    return this.gateway.emit(route, payload, options);
  }

  start(): void {
    if (this.started || this.stopping !== null) return;
    this.started = true;
    this.work.start();
  }

  async swap(table: RouteTable, blueprints?: Catalog): Promise<void> {
    await this.routes.tables.swap(table);
    if (blueprints !== undefined) this.context.documents.use(catalogValue(blueprints));
  }

  reload(relink = false): Promise<boolean> {
    return this.routes.tables.reload(relink);
  }

  async status(): Promise<ServiceStatus> {
    // A new subscription must be in service before its first request.
    await this.routes.tables.refresh();
    const work = await readStatus(this.work, this.context.clock);
    return {
      ...this.routes.status(),
      console: this.console?.url ?? null,
      startedAt: this.startedAt,
      ...work,
      alerts: this.work.guarding.lasting,
    };
  }

  async requests(): Promise<CaptureStore['requests']> {
    return (await this.work.keeping.use()).requests;
  }

  async replay(id: string, by?: string): Promise<ReplayReport> {
    const keeper = await this.work.keeping.use();
    const found = await keeper.requests.load(id);
    if (found.kind !== 'found') throw new ControlError('refused', `${found.kind} request "${id}"`);
    const why = keeper.whyNotReplayable(found.request);
    if (why !== null) throw new ControlError('refused', `${found.request.id} cannot be replayed: ${why}`);
    const report = await this.gateway.replay(found.request, keeper, by);
    if (report !== null) return report;
    throw new ControlError('refused', `no route serves ${found.request.path}`);
  }

  async metrics(): ReturnType<Service['metrics']> {
    await this.routes.tables.refresh();
    const { table, subscriptions } = this.routes.status();
    return this.context.metrics.read({
      version: this.context.version,
      generation: table.generation,
      routes: table.routes,
      subscriptions: subscriptions.serving,
      quarantined: subscriptions.quarantined.length,
      served: [...Object.values(this.table.routes), ...this.subscriptions.routes],
      capture: this.work.keeping.counts,
      alerts: this.work.guarding.lasting.map(({ kind }) => kind),
      ...(await readFigures(this.work, this.context.clock)),
    });
  }

  /** Puts a captured secret into service immediately, because the sender's first event may follow at once. */
  enroll(awaited: Parameters<OperatedService['enroll']>[0]): Promise<EnrollReport> {
    return this.context.enrolments.wait(awaited, ENROLL_POLL_MS, () => this.reload(true));
  }

  testAlerts(): Promise<string | null> {
    return this.work.guarding.test();
  }

  changed(): void {
    this.work.changed();
  }

  on<Name extends keyof ServiceEvents>(name: Name, listener: Listener<Name>): () => void {
    const { listeners } = this.events;
    if (!Object.hasOwn(listeners, name) || typeof listener !== 'function')
      throw new TypeError(`on: one of ${Object.keys(listeners).join(', ')}, and a function`);
    this.events.add(name, listener);
    return () => void listeners[name].delete(listener);
  }

  async stop({ drainMs }: { readonly drainMs?: number } = {}): Promise<StopResult> {
    if (drainMs !== undefined && !(Number.isFinite(drainMs) && drainMs >= 0))
      throw new TypeError('stop: drainMs must be a number of ms, 0 or more');
    this.stopping ??= this.stopAndClose(drainMs === undefined ? undefined : drainMs / 1000);
    return this.stopping;
  }

  private async stopAndClose(drainSeconds: number | undefined): Promise<StopResult> {
    try {
      if (this.started) return await this.gateway.stop(drainSeconds);
      // Nothing was served, so nothing needs draining.
      this.routes.tables.stop();
      return { drained: true, abandoned: 0 };
    } finally {
      // The console stores its last counts.
      await this.console?.close();
      await this.work.close();
      await this.routes.copied;
    }
  }

  /** Opens the console if the table has one. Rejects with ListenError for its address. */
  private async openConsole(operations: ControlHandlers | null): Promise<Console | null> {
    const { console: plan } = this.table.gateway;
    if (plan === null) return null;
    const { log, modules, clock } = this.context;
    const open = await requirePart(modules, 'console');
    const people = (): readonly Credential[] => this.routes.tables.serving.people;
    const isOpen = people().length === 0;
    const console = await open({
      plan,
      people,
      isOpen: () => isOpen && people().length === 0,
      readiness: () => readinessOf(this.routes.status(), this.store),
      metrics: () => this.metrics(),
      requestCount: () => this.context.metrics.requestCount(),
      recordFigures: (figures) => this.context.metrics.recordFigures(figures),
      kept: () => this.work.keeping.counts,
      store: this.work.opened.store,
      operations,
      connections: this.gateway.consoleConnections,
      bodies: this.gateway.bodies,
      log,
      clock,
    });
    log.info({ console: console.url }, 'console listening');
    return console;
  }
}
