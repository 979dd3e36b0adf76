/**
 * The work behind the server: the store, the keeper of requests, agents, targets and the dispatcher. Agents and targets are
 * linked again for each table and replaced at the swap; the store is opened once, with the first table.
 */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { StopResult } from '../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { SwappableDeliverer } from '../deliver/create-deliverer.ts';
import { createDeliverer } from '../deliver/create-deliverer.ts';
import { fileSessions } from '../deliver/sessions/file-sessions.ts';
import { createMirror } from '../deliver/sessions/mirror.ts';
import type { FindBudgets, RetryPolicy } from '../dispatch/context.ts';
import { createDispatcher } from '../dispatch/create-dispatcher.ts';
import type { DispatchCounts, DispatchService } from '../dispatch/dispatcher.ts';
import type { GuardContext, WatchedState } from '../dispatch/guard.ts';
import type { FindInstallation } from '../dispatch/installation.ts';
import { findInstallation } from '../dispatch/installation.ts';
import type { DispatchObserver } from '../dispatch/observer.ts';
import type { OpenHandover } from '../dispatch/outputs.ts';
import { JobScheduler } from '../dispatch/scheduler/scheduler.ts';
import type { Statuses } from '../intake/intake.ts';
import type { Keeping } from '../intake/keeper.ts';
import type { OpenedStore, Tracing } from '../module.ts';
import type { Timer } from '../platform/clock.ts';
import { removeInputs } from '../platform/process/input-file.ts';
import type { JobRecord } from '../store/job-mutations.ts';
import type { NamedWaits, WaitCounts } from '../store/named-waits.ts';
import { namedWaits } from '../store/named-waits.ts';
import { startRetention } from '../store/retention.ts';
import type { Store } from '../store/store.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { FindPlace } from '../table/held-place.ts';
import type { OwnLogin } from '../table/link-loop.ts';
import { TableError } from '../table/load.ts';
import { Approving } from './approving.ts';
import type { Budgets } from './budgets.ts';
import { sandboxesOf } from './confine.ts';
import type { ServiceContext } from './context.ts';
import type { Backend } from './gateway.ts';
import type { Guarding } from './guarding.ts';
import type { LinkedWork, OpenDeliveries } from './linked-work.ts';
import { linkWork } from './linked-work.ts';

/** Wait between two attempts to read from a store that is not open, in ms. */
const RETRY_MS = 1000;

interface WorkParts {
  readonly deliveries: OpenDeliveries;
  readonly first: LinkedWork;
  readonly opened: OpenedStore;
  readonly keeping: Keeping;
  readonly observer: DispatchObserver;
  readonly tracing: Tracing | null;
  readonly guarding: Guarding;
  readonly budgets: Budgets;
}

export class Work implements Backend {
  readonly keeping: Keeping;
  readonly tracing: Tracing | null;
  private readonly context: ServiceContext;
  readonly opened: OpenedStore;
  private readonly waits: NamedWaits;
  /** Call `changed` after a command has changed it. */
  readonly store: Store;
  readonly dispatcher: DispatchService;
  readonly installation: FindInstallation;
  readonly ownLogin: OwnLogin = (...of) => this.deliverer.ownLogin(...of);
  statuses: Statuses | null = null;
  readonly guarding: Guarding;
  readonly approving: Approving;
  readonly place: FindPlace = (...of) => this.deliverer.place(...of);
  private readonly deliveries: OpenDeliveries;
  private readonly deliverer: SwappableDeliverer;
  private readonly scheduler: JobScheduler;
  private linked: LinkedWork;
  private records: readonly JobRecord[] = [];
  private readonly budgets: Budgets;
  private rereading: Timer | null = null;
  private endRetention: () => void = () => {};

  constructor(
    context: ServiceContext,
    { deliveries, first, opened, keeping, observer, tracing, guarding, budgets }: WorkParts,
  ) {
    const { clock, log, ids, timezone, redactor } = context;
    const { store } = opened;
    this.context = context;
    this.deliveries = deliveries;
    this.linked = first;
    this.opened = opened;
    this.store = store;
    this.waits = namedWaits(
      opened.forCallers,
      () => clock.now(),
      () => this.linked.limits,
    );
    this.keeping = keeping;
    this.tracing = tracing;
    this.guarding = guarding;
    this.budgets = budgets;
    const sessions = store.state?.sessions ?? fileSessions(deliveries.context.homeOf);
    const mirror = createMirror({ clock, log, sessions });
    const { redact } = redactor;
    this.deliverer = createDeliverer({ linked: first.targets, context: deliveries.context, mirror, redact });
    const table = (): RouteTable => this.linked.table;
    const findBudgets: FindBudgets = (of, now) => this.budgets.find(this.linked.table, of, now);
    this.approving = new Approving(context.modules, {
      ...{ store, clock, ids, log, table, alerts: guarding },
      wake: () => this.dispatcher.wake(),
    });
    this.scheduler = new JobScheduler({
      ...{ store, clock, log, ids, timezone, table, wake: () => this.dispatcher.wake(), tracing },
      ...{ budgets: findBudgets, observer, place: this.place },
      changed: (records) => this.useJobs(records),
    });
    store.shared?.watch((change) => {
      if (change === 'jobs') this.scheduler.refresh();
    });
    this.installation = findInstallation(store, randomBytes);

    const observing: DispatchObserver = {
      ...observer,
      finished: (...of) => {
        observer.finished?.(...of);
        this.statuses?.finished(of[0].id);
      },
    };
    this.dispatcher = createDispatcher({
      ...{ store, clock, log, ids, observer: observing, jobs: this.scheduler },
      installation: this.installation,
      budgets: findBudgets,
      deliverer: tracing?.deliverer(this.deliverer) ?? this.deliverer,
      agents: (profile, name) => {
        const agent = this.linked.agents(profile, name);
        return agent === null ? null : (tracing?.agent(agent) ?? agent);
      },
      policy: (profile, target) => policyOf(table(), profile, target),
      limits: () => table().gateway,
      agent_limits: () => this.linked.limits,
      random: Math.random,
      outputs: () => loadOutputs(context),
      asked: () => this.approving.asked(),
      redact,
    });
  }

  /** What the guard needs of the work. @param state of the server that stands before it */
  guardContext(state: () => Omit<WatchedState, 'overdueJob'>): GuardContext {
    const { clock, ids, log } = this.context;
    return {
      ...{ store: this.store, deliverer: this.deliverer, clock, ids, log },
      table: () => this.linked.table,
      state: () => ({ ...state(), overdueJob: this.scheduler.overdue() }),
      heartbeatUrl: () => {
        const { heartbeat = null } = this.linked.table.gateway;
        return heartbeat === null ? null : this.linked.secrets.resolve(heartbeat.url);
      },
      wake: () => this.dispatcher.wake(),
    };
  }

  isPending(path: string): boolean {
    return this.opened.isPending(path);
  }

  async prepare(table: RouteTable): Promise<() => void> {
    await this.keeping.prepare(Object.values(table.routes));
    await this.guarding.prepare(table);
    await this.budgets.prepare(table);
    await this.approving.prepare(table);
    await this.openStatuses(Object.values(table.routes));
    const next = await linkWork(this.context, this.deliveries, table);
    return () => {
      this.linked = next;
      this.deliverer.use(next.targets);
      this.askOwnLogins();
      this.dispatcher.wake();
      this.scheduler.refresh();
    };
  }

  async subscribed(plans: readonly RoutePlan[]): Promise<void> {
    await this.keeping.prepare(plans);
    await this.budgets.subscribed(plans);
    await this.openStatuses(plans);
  }

  /** Call before these routes are served. Rejects with TableError when one needs statuses, and no module has them. */
  async openStatuses(plans: readonly RoutePlan[]): Promise<void> {
    if (this.statuses !== null || plans.every(({ status }) => status === undefined)) return;
    const { modules, clock, log } = this.context;
    const load = modules.find(({ statuses }) => statuses)?.statuses;
    if (load === undefined) throw new TableError('status_url: no module of this program tells what became of events');
    const open = await load();
    this.statuses ??= open({ store: this.store, clock, log });
  }

  /** Starts to fire jobs, and resumes unfinished work in the background, because there may be much of it. */
  start(): void {
    const { clock, log, home, workFolders } = this.context;
    void workFolders.sweep(Object.values(this.linked.table.profiles).map((profile) => join(home, profile.home)));
    void removeInputs(home);
    void this.tryWalls();
    this.askOwnLogins();
    this.dispatcher.start().catch((error: unknown) => log.error({ err: error }, 'cannot take up unfinished work'));
    this.scheduler.start();
    const retentionDays = (): number => this.linked.table.gateway.retention_days;
    const maxBytes = (): number => this.linked.table.gateway.retention_max_mb * 2 ** 20;
    this.endRetention = startRetention({ store: this.store, clock, log, retentionDays, maxBytes });
  }

  /** Asks before the first event comes which accounts are the gateway's own. */
  private askOwnLogins(): void {
    const { schemes, profiles } = this.linked.table;
    const targets = Object.values(schemes).flatMap(({ own_sender = [] }) => own_sender.map(({ target }) => target));
    for (const profile of Object.keys(profiles)) for (const target of new Set(targets)) this.ownLogin(profile, target);
  }

  /** Warns at once if runs will fail because there is no sandbox on this machine, and of paths that open nothing. */
  private async tryWalls(): Promise<void> {
    const plans = sandboxesOf(this.linked.table);
    if (plans.length === 0) return;
    const { confinement, log } = this.context;
    const reason = await confinement.problem();
    if (reason !== null) log.warn({ reason }, 'there is no sandbox: what is to run in one will fail');
    for (const path of await confinement.closed(plans)) log.warn({ path }, 'a path of a sandbox opens nothing');
  }

  /** Drains work for up to `timeoutMs`; the rest resumes after the next start. */
  async stop(timeoutMs: number): Promise<StopResult> {
    await this.scheduler.stop();
    return this.dispatcher.stop(timeoutMs);
  }

  async close(): Promise<void> {
    await this.approving.close();
    await this.guarding.close();
    await this.keeping.close();
    await this.context.workFolders.close();
    this.endRetention();
    this.rereading?.cancel();
    await this.store.close();
    await this.deliveries.close();
  }

  readonly counts = (): Promise<DispatchCounts> => this.dispatcher.counts();

  /** The store for callers, which are told what the gateway holds runs up for. */
  get forCallers(): Store {
    return this.waits.store;
  }

  readonly countWaits = (): Promise<WaitCounts> => this.waits.counts();

  /** Jobs created at run time, as of their last change. */
  jobs(): readonly JobRecord[] {
    return this.records;
  }

  /** Call after a command has changed the store: there may be new work or a changed job. */
  changed(): void {
    this.dispatcher.wake();
    this.scheduler.refresh();
    this.readJobs().catch((error: unknown) => this.context.log.error({ err: error }, 'cannot read the jobs'));
  }

  private useJobs(records: readonly JobRecord[]): Promise<void> {
    this.records = records;
    return this.budgets.stored(records);
  }

  /** Reads the jobs; retries while the store is not open, because its disk is full, read-only or failing. */
  async readJobs(): Promise<void> {
    try {
      await this.useJobs((await this.store.read({ kind: 'jobs' })).records);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.rereading?.cancel();
      this.rereading = this.context.clock.after(RETRY_MS, () => this.changed());
    }
  }
}

/** Rejects when no module of this program takes outputs; a run that may have some then waits. */
function loadOutputs({ modules }: ServiceContext): Promise<OpenHandover> {
  const load = modules.find(({ outputs }) => outputs)?.outputs;
  if (load === undefined) throw new Error('no module of this program takes outputs');
  return load();
}

/** A target without a binding of its own (`log`) uses the gateway's policy. */
function policyOf({ profiles, gateway }: RouteTable, profile: string, target: string): RetryPolicy {
  const targets = Object.hasOwn(profiles, profile) ? profiles[profile]?.targets : undefined;
  const binding = targets !== undefined && Object.hasOwn(targets, target) ? targets[target] : undefined;
  return binding ?? { max_attempts: gateway.max_attempts, retry_ambiguous: false };
}
