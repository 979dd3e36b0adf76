/** The running service: implements `Service` with the parts that `service.ts` creates. */
import type { Catalog, RouteTable } from '../schemas/generated/types.ts';
import type { Readiness } from './console/readiness.ts';
import { readinessOf } from './console/readiness.ts';
import { ControlError } from './control/control-error.ts';
import type { EnrollReport, ReplayReport } from './control/operations.ts';
import type { RunningGateway } from './gateway.ts';
import type { OpenConsole } from './gateway-console.ts';
import type { Listeners } from './gateway-events.ts';
import type { ListenAddress } from './gateway-options.ts';
import type { Service, ServiceEvents, ServiceStatus, StopResult } from './gateway-service.ts';
import type { GatewayTables } from './gateway-tables.ts';
import type { Work } from './gateway-work.ts';
import type { SwappableCatalog } from './intake/catalog-source.ts';
import { catalogValue } from './intake/catalog-source.ts';
import type { RequestOrigin } from './intake/fetch-request.ts';
import type { Keeper, Keeping } from './intake/keeper.ts';
import type { LateMetrics } from './metrics/late-metrics.ts';
import type { JobRecord } from './store/job-mutations.ts';
import type { Store } from './store/store.ts';
import type { TableState } from './table/tables.ts';
import type { Enrolments } from './verify/enrolment.ts';

/** Time of one poll for a secret, in ms; short, because a stop waits for it. */
const ENROLL_POLL_MS = 2000;

export interface ServiceParts {
  readonly tables: GatewayTables;
  readonly gateway: RunningGateway;
  readonly work: Work;
  readonly keeping: Keeping;
  readonly metrics: LateMetrics;
  readonly enrolments: Enrolments;
  readonly events: Listeners;
  readonly catalog: SwappableCatalog;
  /** Unix ms. */
  readonly startedAt: number;
  /** For callers that use the machine's clock. */
  readonly store: Store;
  readonly openConsole: (readiness: () => Readiness, metrics: Service['metrics']) => Promise<OpenConsole | null>;
}

export class RunningService implements Service {
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
      () => readinessOf(this.parts.gateway.status(), this.store.problem(), this.store.shared?.otherTables() ?? []),
      () => this.metrics(),
    );
    const address = await this.parts.gateway.listen(at);
    this.start();
    void this.parts.metrics.load();
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

  async requests(): Promise<Keeper['requests']> {
    return (await this.parts.keeping.use()).requests;
  }

  async replay(id: string): Promise<ReplayReport> {
    const keeper = await this.parts.keeping.use();
    const found = await keeper.requests.load(id);
    if (found.kind !== 'found') throw new ControlError('refused', `${found.kind} request "${id}"`);
    const why = keeper.whyNotReplayable(found.request);
    if (why !== null) throw new ControlError('refused', `${found.request.id} cannot be sent again: ${why}`);
    const report = await this.parts.gateway.replay(found.request, keeper);
    if (report !== null) return report;
    throw new ControlError('refused', `this gateway has no route at ${found.request.path}`);
  }

  async metrics(): ReturnType<Service['metrics']> {
    const { metrics, gateway, work, keeping } = this.parts;
    const { table, subscriptions } = gateway.status();
    return metrics.read({
      generation: table.generation,
      routes: table.routes,
      subscriptions: subscriptions.serving,
      quarantined: subscriptions.quarantined.length,
      capture: keeping.counts,
      ...(await work.figures()),
    });
  }

  /** Puts a captured secret into service at once, because the sender's first event may follow immediately. */
  async enroll({ profile, route }: Parameters<Service['enroll']>[0]): Promise<EnrollReport> {
    const captured = await this.parts.enrolments.wait(profile, route, ENROLL_POLL_MS);
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
    const { gateway, tables, work, keeping } = this.parts;
    try {
      if (this.started) return await gateway.stop(drainSeconds);
      // Nothing was served, so there is nothing to drain.
      tables.stop();
      return { drained: true, abandoned: 0 };
    } finally {
      await keeping.close();
      await work.close();
      await this.console?.close();
    }
  }
}
