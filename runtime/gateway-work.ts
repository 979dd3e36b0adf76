/**
 * The work behind the server: the store, agents, targets and the dispatcher. Agents and targets are linked again for each
 * table and replaced at the swap; the store is opened once, with the first table.
 */

import type { RouteTable } from '../schemas/generated/types.ts';
import type { WorkStatus } from './control/operations.ts';
import type { SwappableDeliverer } from './deliver/create-deliverer.ts';
import { createDeliverer } from './deliver/create-deliverer.ts';
import { createDeliveryContext } from './deliver/delivery-context.ts';
import { fileSessions } from './deliver/sessions/file-sessions.ts';
import { createMirror } from './deliver/sessions/mirror.ts';
import { createDispatcher } from './dispatch/create-dispatcher.ts';
import type { DispatchCounts, DispatchReport, DispatchService } from './dispatch/dispatch-service.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import type { DispatchObserver } from './dispatch/observer.ts';
import { JobScheduler } from './dispatch/scheduler/scheduler.ts';
import type { FigureSources } from './gateway-figures.ts';
import { readFigures, readStatus } from './gateway-figures.ts';
import type { LinkedWork, WorkLinkContext } from './gateway-link.ts';
import { linkWork, policyOf } from './gateway-link.ts';
import { openStore } from './gateway-store.ts';
import type { LiveFigures } from './metrics/metrics.ts';
import type { OpenedStore, RuntimePart, StoreContext } from './module.ts';
import type { Timer } from './platform/clock.ts';
import type { Ids } from './platform/ids.ts';
import type { JobRecord } from './store/job-mutations.ts';
import { startRetention } from './store/retention.ts';
import type { Store } from './store/store.ts';
import { StoreUnavailable } from './store/store.ts';

/** Wait between two attempts to read from a store that is not open, in ms. */
const RETRY_MS = 1000;

export interface WorkContext extends StoreContext, WorkLinkContext {
  readonly modules: readonly RuntimePart[];
  /** Counts for metrics. */
  readonly observer: DispatchObserver;
  readonly ids: Ids;
  /** IANA zone for jobs that name none, if the config names none either. */
  readonly timezone: string;
}

type Deliveries = ReturnType<typeof createDeliveryContext>;

/**
 * Links the first table and opens the store.
 * Rejects with TableError naming all missing credentials, with StoreRefused when the store cannot be used.
 */
export async function openWork(context: WorkContext, table: RouteTable): Promise<Work> {
  const deliveries = createDeliveryContext(context);
  try {
    const first = await linkWork(context, deliveries.context, table);
    const opened = await openStore(context, table, first.secrets);
    const work = new Work(context, { deliveries, first, opened });
    await work.readJobs();
    return work;
  } catch (error) {
    await deliveries.close();
    throw error;
  }
}

interface WorkParts {
  readonly deliveries: Deliveries;
  readonly first: LinkedWork;
  readonly opened: OpenedStore;
}

export class Work {
  /** Call `changed` after a command has changed it. */
  readonly store: Store;
  private readonly context: WorkContext;
  private readonly deliveries: Deliveries;
  private readonly deliverer: SwappableDeliverer;
  private readonly service: DispatchService;
  private readonly scheduler: JobScheduler;
  private readonly opened: OpenedStore;
  private linked: LinkedWork;
  private records: readonly JobRecord[] = [];
  private rereading: Timer | null = null;
  private endRetention: () => void = () => {};

  constructor(context: WorkContext, { deliveries, first, opened }: WorkParts) {
    const { clock, log, observer, ids, timezone, redact } = context;
    this.context = context;
    this.deliveries = deliveries;
    this.linked = first;
    const { store } = opened;
    this.store = store;
    this.opened = opened;
    const mirror = createMirror({
      clock,
      log,
      sessions: store.state?.sessions ?? fileSessions(deliveries.context.homeOf),
    });
    this.deliverer = createDeliverer({ linked: first.targets, context: deliveries.context, mirror, redact });
    const table = (): RouteTable => this.linked.table;
    this.scheduler = new JobScheduler({
      ...{ store, clock, log, ids, timezone, table, wake: () => this.service.wake() },
      changed: (records) => {
        this.records = records;
      },
    });
    store.shared?.watch((change) => {
      if (change === 'jobs') this.scheduler.refresh();
    });
    this.service = createDispatcher({
      ...{ store, deliverer: this.deliverer, clock, log, observer, jobs: this.scheduler },
      agents: (profile) => this.linked.agents(profile),
      policy: (profile, target) => policyOf(table(), profile, target),
      limits: () => table().gateway,
      random: Math.random,
    });
  }

  get dispatcher(): Dispatcher {
    return this.service;
  }

  /** See OpenedStore. */
  isPending(path: string): boolean {
    return this.opened.isPending(path);
  }

  /** See OpenedStore. */
  get storeForCallers(): Store {
    return this.opened.forCallers;
  }

  /** Links a later table; returns a function that swaps it in. Rejects like `openWork`. */
  async prepare(table: RouteTable): Promise<() => void> {
    const next = await linkWork(this.context, this.deliveries.context, table);
    return () => {
      this.linked = next;
      this.deliverer.use(next.targets);
      this.service.wake();
      this.scheduler.refresh();
    };
  }

  /** Starts to fire jobs, and resumes unfinished work in the background, because there may be much of it. */
  start(): void {
    const { clock, log } = this.context;
    this.service.start().catch((error: unknown) => log.error({ err: error }, 'cannot take up unfinished work'));
    this.scheduler.start();
    const retentionDays = (): number => this.linked.table.gateway.retention_days;
    const maxBytes = (): number => this.linked.table.gateway.retention_max_mb * 2 ** 20;
    this.endRetention = startRetention({ store: this.store, clock, log, retentionDays, maxBytes });
  }

  /** Drains work for up to `timeoutMs`; the rest resumes after the next start. */
  async stop(timeoutMs: number): Promise<DispatchReport> {
    await this.scheduler.stop();
    return this.service.stop(timeoutMs);
  }

  async close(): Promise<void> {
    this.endRetention();
    this.rereading?.cancel();
    await this.store.close();
    await this.deliveries.close();
  }

  counts(): Promise<DispatchCounts> {
    return this.service.counts();
  }

  /** Jobs created at run time, as of their last change. */
  jobs(): readonly JobRecord[] {
    return this.records;
  }

  /** Call after a command has changed the store: there may be new work or a changed job. */
  changed(): void {
    this.service.wake();
    this.scheduler.refresh();
    this.readJobs().catch((error: unknown) => this.context.log.error({ err: error }, 'cannot read the jobs'));
  }

  /** Reads the jobs; retries while the store is not open, because its disk is full, read-only or failing. */
  async readJobs(): Promise<void> {
    try {
      this.records = (await this.store.read({ kind: 'jobs' })).records;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.rereading?.cancel();
      this.rereading = this.context.clock.after(RETRY_MS, () => this.changed());
    }
  }

  /** See `readStatus`. */
  status(): Promise<WorkStatus> {
    return readStatus(this.figureSources());
  }

  /** See `readFigures`. */
  figures(): Promise<Pick<LiveFigures, 'storeUp' | 'stored'>> {
    return readFigures(this.figureSources());
  }

  private figureSources(): FigureSources {
    return { store: this.store, counts: () => this.counts(), clock: this.context.clock };
  }
}
