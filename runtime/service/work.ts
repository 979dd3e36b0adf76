/**
 * The work of a service while it runs: opens what a table needs, replaces targets and agents at the swap, starts jobs and
 * unfinished work, and ends all of it.
 */
import { join } from 'node:path';
import type { StopResult } from '../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { DispatchCounts, DispatchService } from '../dispatch/dispatcher.ts';
import type { FindInstallation } from '../dispatch/own-message.ts';
import type { Statuses } from '../intake/intake.ts';
import type { RequestCapture } from '../intake/keeper.ts';
import type { OpenedStore, Tracing } from '../module.ts';
import type { Timer } from '../platform/clock.ts';
import type { Lazy } from '../platform/lazy.ts';
import { removeInputs } from '../platform/process/run-process.ts';
import type { Store } from '../store/contract.ts';
import { StoreUnavailable } from '../store/contract.ts';
import type { StoreWithWaitReasons, WaitCounts } from '../store/named-waits.ts';
import { withWaitReasons } from '../store/named-waits.ts';
import type { JobRecord } from '../store/records.ts';
import { startRetention } from '../store/retention.ts';
import type { FindDestination } from '../table/held-place.ts';
import type { OwnLogin } from '../table/link-loop.ts';
import type { WorkParts } from './assemble-work.ts';
import { linkWork } from './assemble-work.ts';
import type { ServiceContext } from './context.ts';
import type { Backend } from './gateway.ts';
import type { LazyApprovals, LazyGuard } from './parts.ts';
import { prepareEvents, sandboxesOf } from './parts.ts';

/** Wait between two attempts to read from a store that is not open, in ms. */
const RETRY_MS = 1000;

export class Work implements Backend {
  private readonly context: ServiceContext;
  private readonly parts: WorkParts;
  private readonly waits: StoreWithWaitReasons;
  readonly opened: OpenedStore;
  /** Call `changed` after a command has changed it. */
  readonly store: Store;
  readonly dispatcher: DispatchService;
  readonly tracing: Tracing | null;
  readonly installation: FindInstallation;
  readonly keeping: RequestCapture;
  readonly guarding: LazyGuard;
  readonly approving: LazyApprovals;
  readonly statuses: Lazy<Statuses>;
  readonly requested: LazyGuard['requested'];
  readonly ownLogin: OwnLogin;
  readonly place: FindDestination;
  private rereading: Timer | null = null;
  private endRetention: () => void = () => {};

  constructor(context: ServiceContext, parts: WorkParts) {
    this.context = context;
    this.parts = parts;
    this.opened = parts.opened;
    this.store = parts.opened.store;
    this.waits = withWaitReasons(
      parts.opened.forCallers,
      () => context.clock.now(),
      () => parts.serving.linked.limits,
    );
    this.dispatcher = parts.dispatcher;
    this.tracing = parts.tracing;
    this.installation = parts.installation;
    this.keeping = parts.keeping;
    this.guarding = parts.guarding;
    this.approving = parts.approving;
    this.statuses = parts.events.statuses;
    this.requested = parts.guarding.requested;
    this.ownLogin = parts.deliverer.ownLogin;
    this.place = parts.deliverer.place;
    this.store.shared?.watch((change) => {
      if (change === 'jobs') parts.scheduler.refresh();
    });
  }

  get hasFailed(): boolean {
    return this.store.problem()?.kind === 'ended';
  }

  /** The store for callers, with the reasons why the gateway delays runs. */
  get forCallers(): Store {
    return this.waits.store;
  }

  isPending(path: string): boolean {
    return this.opened.isPending(path);
  }

  /** Opens the modules that the table needs. Call before it is served. Rejects with TableError if one is missing. */
  async open(table: RouteTable): Promise<void> {
    const { guarding, limits, approving } = this.parts;
    const plans = Object.values(table.routes);
    await this.keep(plans);
    await guarding.prepare(table);
    limits.prepare(table);
    await approving.prepare(table);
    await prepareEvents(this.parts.events, plans);
  }

  /** Opens the capture of requests, unless the store is in memory: captures are files of the home. */
  private async keep(plans: readonly RoutePlan[]): Promise<void> {
    if (!this.context.inMemory) await this.keeping.prepare(plans);
  }

  async prepare(table: RouteTable): Promise<() => void> {
    await this.open(table);
    const { serving, deliveries, deliverer, scheduler } = this.parts;
    const next = await linkWork(this.context, deliveries, table);
    return () => {
      serving.linked = next;
      deliverer.use(next.targets);
      this.askOwnLogins();
      this.dispatcher.wake();
      scheduler.refresh();
    };
  }

  async subscribed(plans: readonly RoutePlan[]): Promise<void> {
    await this.keep(plans);
    this.parts.limits.subscribed(plans);
    await prepareEvents(this.parts.events, plans);
  }

  /** Starts to fire jobs, and resumes unfinished work in the background, because there may be much of it. */
  start(): void {
    const { clock, log, home, workFolders } = this.context;
    const { serving, scheduler } = this.parts;
    void workFolders.sweep(Object.values(serving.linked.table.profiles).map((profile) => join(home, profile.home)));
    void removeInputs(home);
    void this.checkSandboxes();
    this.askOwnLogins();
    this.dispatcher.start().catch((error: unknown) => log.error({ err: error }, 'could not resume unfinished work'));
    scheduler.start();
    const retentionDays = (): number => serving.linked.table.gateway.retention_days;
    const maxBytes = (): number => serving.linked.table.gateway.retention_max_mb * 2 ** 20;
    this.endRetention = startRetention({ store: this.store, clock, log, retentionDays, maxBytes });
  }

  /** Requests the gateway's own accounts before the first event arrives. */
  private askOwnLogins(): void {
    const { schemes, profiles } = this.parts.serving.linked.table;
    const targets = Object.values(schemes).flatMap(({ own_sender = [] }) => own_sender.map(({ target }) => target));
    for (const profile of Object.keys(profiles)) for (const target of new Set(targets)) this.ownLogin(profile, target);
  }

  /**
   * Warns at startup if runs will fail because sandboxes do not work on this machine, and about paths that cannot be opened.
   */
  private async checkSandboxes(): Promise<void> {
    const plans = sandboxesOf(this.parts.serving.linked.table);
    if (plans.length === 0) return;
    const { confinement, log } = this.context;
    const reason = await confinement.problem();
    if (reason !== null) log.warn({ reason }, 'sandboxes do not work here: runs that need one will fail');
    for (const path of await confinement.closed(plans)) log.warn({ path }, 'cannot open a path that a sandbox lists');
  }

  /** Drains work for up to `timeoutMs`; the rest resumes after the next start. */
  async stop(timeoutMs: number): Promise<StopResult> {
    await this.parts.scheduler.stop();
    return this.dispatcher.stop(timeoutMs);
  }

  async close(): Promise<void> {
    const { approving, guarding, keeping, deliveries, events } = this.parts;
    await events.progress.end((progress) => progress.close());
    await approving.close();
    await guarding.close();
    await keeping.close();
    await this.context.workFolders.close();
    this.endRetention();
    this.rereading?.cancel();
    await this.store.close();
    await deliveries.close();
  }

  readonly counts = (): Promise<DispatchCounts> => this.dispatcher.counts();

  readonly countWaits = (): Promise<WaitCounts> => this.waits.counts();

  jobs(): readonly JobRecord[] {
    return this.parts.serving.jobs;
  }

  /** Call after a command has changed the store: there may be new work or a changed job. */
  changed(): void {
    this.dispatcher.wake();
    this.parts.scheduler.refresh();
    this.readJobs().catch((error: unknown) => this.context.log.error({ err: error }, 'could not read the jobs'));
  }

  /** Reads the jobs; retries while the store is not open because its disk is full, read-only or failing. */
  async readJobs(): Promise<void> {
    try {
      await this.parts.useJobs((await this.store.read({ kind: 'jobs' })).records);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.rereading?.cancel();
      this.rereading = this.context.clock.after(RETRY_MS, () => this.changed());
    }
  }
}
