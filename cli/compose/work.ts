/**
 * The work behind the server, assembled: store, agents, targets and the dispatcher over them. Everything that a table
 * decides is linked anew with each table and taken over at the swap; the store is opened with the first one.
 */

import type { Clock, Timer } from '../../runtime/clock.ts';
import type { DispatchStatus, StoreStatus } from '../../runtime/control/operations.ts';
import type { SwappableDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import { createDeliverer } from '../../runtime/deliver/create-deliverer.ts';
import type { LinkedTargets } from '../../runtime/deliver/link-targets.ts';
import { linkTargets } from '../../runtime/deliver/link-targets.ts';
import type { Redact } from '../../runtime/deliver/redact.ts';
import { createMirror } from '../../runtime/deliver/sessions/mirror.ts';
import type { Agents } from '../../runtime/dispatch/agents/create-agents.ts';
import { createAgents } from '../../runtime/dispatch/agents/create-agents.ts';
import type { RetryPolicy } from '../../runtime/dispatch/context.ts';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import type { DispatchCounts, DispatchReport, DispatchService } from '../../runtime/dispatch/dispatch-service.ts';
import type { Dispatcher } from '../../runtime/dispatch/dispatcher.ts';
import type { DispatchObserver } from '../../runtime/dispatch/observer.ts';
import { JobScheduler } from '../../runtime/dispatch/scheduler/scheduler.ts';
import { readRegularText } from '../../runtime/files/read-regular-file.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { ProcessLogger } from '../../runtime/logger.ts';
import type { LiveFigures } from '../../runtime/metrics/metrics.ts';
import type { RunProcess } from '../../runtime/process/run-process.ts';
import { tableSecretRefs } from '../../runtime/secret-refs.ts';
import type { SecretResolver } from '../../runtime/secrets.ts';
import { SecretError } from '../../runtime/secrets.ts';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import type { StoreOverview } from '../../runtime/store/queries.ts';
import { startRetention } from '../../runtime/store/retention.ts';
import { openServerStore } from '../../runtime/store/sqlite/open-store.ts';
import type { DispatchState } from '../../runtime/store/states.ts';
import { DISPATCH_STATES } from '../../runtime/store/states.ts';
import type { Store } from '../../runtime/store/store.ts';
import { StoreUnavailable } from '../../runtime/store/store.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import { TableError } from '../../runtime/table/load.ts';
import type { RouteTable, SecretRef } from '../../schemas/generated/types.ts';
import { createDeliveryContext } from './delivery-context.ts';

/** Longer skills are refused, in bytes: a prompt has to hold them. */
const MAX_SKILL_BYTES = 4 * 1024 * 1024;

/** Between two tries to read from a store that is not open, in ms. */
const RETRY_MS = 1000;

export interface WorkContext {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: ProcessLogger;
  readonly run: RunProcess;
  /** Reads these references as they are now. @param host the table's */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
  /** Counts for metrics. */
  readonly observer: DispatchObserver;
  readonly ids: Ids;
  /** Replaces every known secret. */
  readonly redact: Redact;
  /** The machine's IANA zone, for jobs that name none in a config that names none. */
  readonly timezone: string;
}

/** What one table makes of the work. */
interface Linked {
  readonly table: RouteTable;
  readonly targets: LinkedTargets;
  readonly agents: Agents;
}

export class Work {
  private readonly context: WorkContext;
  private readonly deliveries: ReturnType<typeof createDeliveryContext>;
  private linked: Linked | null = null;
  private store: Store | null = null;
  private deliverer: SwappableDeliverer | null = null;
  private service: DispatchService | null = null;
  private scheduler: JobScheduler | null = null;
  private endRetention: () => void = () => {};
  private records: readonly JobRecord[] = [];
  private rereading: Timer | null = null;

  constructor(context: WorkContext) {
    this.context = context;
    this.deliveries = createDeliveryContext(context);
  }

  /** The dispatcher, for a server that is made before the first table is there. */
  readonly dispatcher: Dispatcher = {
    isKnownDone: (...args) => this.running.isKnownDone(...args),
    refuseRepeat: (...args) => this.running.refuseRepeat(...args),
    accept: (...args) => this.running.accept(...args),
    coalesce: (...args) => this.running.coalesce(...args),
    deliver: (...args) => this.running.deliver(...args),
    fire: (...args) => this.running.fire(...args),
  };

  /**
   * Links a table; what it returns takes it over.
   * Rejects with TableError naming every credential that is missing; StoreRefused when the store cannot be used.
   */
  async prepare(table: RouteTable): Promise<() => void> {
    const next = await this.link(table);
    if (this.linked === null) await this.open(next);
    return () => {
      this.linked = next;
      this.deliverer?.use(next.targets);
      this.service?.wake();
      this.scheduler?.refresh();
    };
  }

  /** Begins to fire jobs, and takes up in the background what the last stop or crash left: there may be much of it. */
  start(): void {
    const { clock, log } = this.context;
    this.running.start().catch((error: unknown) => log.error({ err: error }, 'cannot take up unfinished work'));
    this.scheduler?.start();
    if (this.store === null) return;
    const retentionDays = (): number => this.current.table.gateway.retention_days;
    const maxBytes = (): number => this.current.table.gateway.retention_max_mb * 2 ** 20;
    this.endRetention = startRetention({ store: this.store, clock, log, retentionDays, maxBytes });
  }

  /** Finishes what it can within `timeoutMs`; the rest goes on after the next start. */
  async stop(timeoutMs: number): Promise<DispatchReport> {
    await this.scheduler?.stop();
    return this.running.stop(timeoutMs);
  }

  async close(): Promise<void> {
    this.endRetention();
    this.rereading?.cancel();
    await this.store?.close();
    await this.deliveries.close();
  }

  counts(): Promise<DispatchCounts> {
    return this.running.counts();
  }

  /** Jobs made at run time, as they were when somebody last changed one. */
  jobs(): readonly JobRecord[] {
    return this.records;
  }

  /** A command has changed the store: there may be work, or another job. */
  changed(): void {
    this.service?.wake();
    this.scheduler?.refresh();
    this.readJobs().catch((error: unknown) => this.context.log.error({ err: error }, 'cannot read the jobs'));
  }

  /** For commands: what they change is to be told with `changed`. */
  get forJobs(): { readonly store: Store; readonly table: RouteTable } {
    if (this.store === null) throw new Error('the work has no table yet');
    return { store: this.store, table: this.current.table };
  }

  /** How the dispatches of all routes stand. */
  async dispatches(): Promise<DispatchStatus> {
    const { tallies, oldest_open_at, last_error } = await this.overview();
    const count = (state: DispatchState) => [state, tallies.reduce((sum, tally) => sum + tally[state], 0)] as const;
    const states = Object.fromEntries(DISPATCH_STATES.map(count)) as DispatchStatus['states'];
    return { states, oldest_open_at, last_error };
  }

  /** For metrics. */
  async figures(): Promise<Pick<LiveFigures, 'tallies' | 'oldestOpenSeconds'>> {
    const { tallies, oldest_open_at } = await this.overview();
    const age = oldest_open_at === null ? 0 : this.context.clock.now() - oldest_open_at;
    return { tallies, oldestOpenSeconds: Math.max(0, age) / 1000 };
  }

  async storeStatus(): Promise<StoreStatus> {
    const { damage, bytes } = await this.overview();
    return { problem: this.forJobs.store.problem(), damage, bytes };
  }

  private overview(): Promise<StoreOverview> {
    return this.forJobs.store.read({ kind: 'overview', now: this.context.clock.now() });
  }

  /** Tries again where the store is not open yet: its disk is full, read-only or failing. */
  private async readJobs(): Promise<void> {
    try {
      this.records = (await this.forJobs.store.read({ kind: 'jobs' })).records;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.rereading = this.context.clock.after(RETRY_MS, () => this.changed());
    }
  }

  private get running(): DispatchService {
    if (this.service === null) throw new Error('the work has no table yet');
    return this.service;
  }

  private get current(): Linked {
    if (this.linked === null) throw new Error('the work has no table yet');
    return this.linked;
  }

  private async link(table: RouteTable): Promise<Linked> {
    const { home, env, log, run, redact } = this.context;
    const secrets = await this.context.secrets(tableSecretRefs(table), table.server.host);
    const { linked: targets, problems } = linkTargets(table, secrets, this.deliveries.context);
    if (problems.length > 0) {
      throw new TableError(
        problems.map(({ profile, target, message }) => `target ${target} of profile ${profile}: ${message}`).join('\n'),
      );
    }
    try {
      const agents = createAgents(table, {
        home,
        env,
        log,
        run,
        secrets,
        redact,
        readText: (path) => readRegularText(path, MAX_SKILL_BYTES),
        http: this.deliveries.context.dispatcher,
      });
      return { table, targets, agents };
    } catch (error) {
      if (error instanceof SecretError) throw new TableError(`agent: ${error.message}`);
      throw error;
    }
  }

  private async open(first: Linked): Promise<void> {
    const { home, clock, log, observer, ids, timezone } = this.context;
    this.linked = first;
    const { durability } = first.table.gateway;
    const store = await openServerStore({ path: storePath(home), durability, log, beforeCommit: () => log.flush() });
    const mirror = createMirror({ clock, log, homeOf: this.deliveries.context.homeOf });
    const deliverer = createDeliverer({
      ...{ linked: first.targets, context: this.deliveries.context, mirror },
      redact: this.context.redact,
    });
    this.store = store;
    await this.readJobs();
    this.deliverer = deliverer;
    const scheduler = new JobScheduler({
      ...{ store, clock, log, ids, timezone },
      table: () => this.current.table,
      wake: () => this.running.wake(),
    });
    this.scheduler = scheduler;
    this.service = createDispatcher({
      ...{ store, deliverer, clock, log, observer, jobs: scheduler },
      agents: (profile) => this.current.agents(profile),
      policy: (profile, target) => policyOf(this.current.table, profile, target),
      limits: () => this.current.table.gateway,
      random: Math.random,
    });
  }
}

/** A target without a binding of its own (`log`) goes by the gateway's rule. */
function policyOf({ profiles, gateway }: RouteTable, profile: string, target: string): RetryPolicy {
  const targets = Object.hasOwn(profiles, profile) ? profiles[profile]?.targets : undefined;
  const binding = targets !== undefined && Object.hasOwn(targets, target) ? targets[target] : undefined;
  return binding ?? { max_attempts: gateway.max_attempts, retry_ambiguous: false };
}
