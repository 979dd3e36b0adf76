/**
 * The work behind the server: store, agents, targets and the dispatcher over them. Everything that a table decides is linked
 * anew with each table and taken over at the swap; the store is opened with the first one.
 */

import { labelIn } from '../base/label.ts';
import { readRegularText } from '../base/read-regular-file.ts';
import type { RouteTable, SecretRef } from '../schemas/generated/types.ts';
import type { DispatchStatus, WorkStatus } from './control/operations.ts';
import type { SwappableDeliverer } from './deliver/create-deliverer.ts';
import { createDeliverer } from './deliver/create-deliverer.ts';
import { createDeliveryContext } from './deliver/delivery-context.ts';
import type { LinkedTargets } from './deliver/link-targets.ts';
import { linkTargets } from './deliver/link-targets.ts';
import type { Redact } from './deliver/redact.ts';
import { fileSessions } from './deliver/sessions/file-sessions.ts';
import { createMirror } from './deliver/sessions/mirror.ts';
import type { RunAgent } from './dispatch/agent-runner.ts';
import type { Agents } from './dispatch/agents/create-agents.ts';
import { createAgents } from './dispatch/agents/create-agents.ts';
import type { RetryPolicy } from './dispatch/context.ts';
import { createDispatcher } from './dispatch/create-dispatcher.ts';
import type { DispatchCounts, DispatchReport, DispatchService } from './dispatch/dispatch-service.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import type { DispatchObserver } from './dispatch/observer.ts';
import { JobScheduler } from './dispatch/scheduler/scheduler.ts';
import { shareSubscriptions } from './gateway-shared.ts';
import type { StoreContext } from './gateway-store.ts';
import { openStore } from './gateway-store.ts';
import type { LiveFigures } from './metrics/metrics.ts';
import type { Timer } from './platform/clock.ts';
import type { Ids } from './platform/ids.ts';
import type { RunProcess } from './platform/process/run-process.ts';
import { tableSecretRefs } from './platform/secrets/secret-refs.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import { SecretError } from './platform/secrets/secrets.ts';
import type { JobRecord } from './store/job-mutations.ts';
import type { StoreOverview } from './store/queries.ts';
import { startRetention } from './store/retention.ts';
import type { DispatchState } from './store/states.ts';
import { DISPATCH_STATES } from './store/states.ts';
import type { Store } from './store/store.ts';
import { StoreUnavailable } from './store/store.ts';
import { TableError } from './table/load.ts';
import type { SharedSubscriptions } from './table/shared-subscriptions.ts';

/** Between two tries to read from a store that is not open, in ms. */
const RETRY_MS = 1000;
/** Longer skills are refused, in bytes: a prompt has to hold them. */
const MAX_SKILL_BYTES = 4 * 1024 * 1024;

export interface WorkContext extends StoreContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunProcess;
  /** Reads these references as they are now. @param host the table's */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
  /** In place of the table's default agent; null: what the table says. */
  readonly agent: RunAgent | null;
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
  readonly secrets: SecretResolver;
  readonly targets: LinkedTargets;
  readonly agents: Agents;
}

type Deliveries = ReturnType<typeof createDeliveryContext>;

/**
 * Links the first table and opens the store.
 * Rejects with TableError naming every credential that is missing; StoreRefused when the store cannot be used.
 */
export async function openWork(context: WorkContext, table: RouteTable): Promise<Work> {
  const deliveries = createDeliveryContext(context);
  try {
    const first = await link(context, deliveries, table);
    const store = await openStore(context, table, first.secrets);
    const shared = await shareSubscriptions(context, store, table, first.secrets);
    const work = new Work(context, { deliveries, first, store, shared });
    await work.readJobs();
    return work;
  } catch (error) {
    await deliveries.close();
    throw error;
  }
}

interface WorkParts {
  readonly deliveries: Deliveries;
  readonly first: Linked;
  readonly store: Store;
  readonly shared: SharedSubscriptions | null;
}

export class Work {
  /** What commands change in it is to be told with `changed`. */
  readonly store: Store;
  private readonly context: WorkContext;
  private readonly deliveries: Deliveries;
  private readonly deliverer: SwappableDeliverer;
  private readonly service: DispatchService;
  private readonly scheduler: JobScheduler;
  private readonly shared: SharedSubscriptions | null;
  private linked: Linked;
  private records: readonly JobRecord[] = [];
  private rereading: Timer | null = null;
  private endRetention: () => void = () => {};

  constructor(context: WorkContext, { deliveries, first, store, shared }: WorkParts) {
    const { clock, log, observer, ids, timezone, redact } = context;
    this.context = context;
    this.deliveries = deliveries;
    this.linked = first;
    this.store = store;
    this.shared = shared;
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

  /** Links a further table; what it returns takes it over. Rejects as `openWork` does. */
  async prepare(table: RouteTable): Promise<() => void> {
    const next = await link(this.context, this.deliveries, table);
    return () => {
      this.linked = next;
      this.deliverer.use(next.targets);
      this.service.wake();
      this.scheduler.refresh();
    };
  }

  /** Begins to fire jobs, and resumes in the background what the last stop or crash left: there may be much of it. */
  start(): void {
    const { clock, log } = this.context;
    this.service.start().catch((error: unknown) => log.error({ err: error }, 'cannot take up unfinished work'));
    this.scheduler.start();
    const retentionDays = (): number => this.linked.table.gateway.retention_days;
    const maxBytes = (): number => this.linked.table.gateway.retention_max_mb * 2 ** 20;
    this.endRetention = startRetention({ store: this.store, clock, log, retentionDays, maxBytes });
  }

  /** Finishes what it can within `timeoutMs`; the rest resumes after the next start. */
  async stop(timeoutMs: number): Promise<DispatchReport> {
    await this.scheduler.stop();
    return this.service.stop(timeoutMs);
  }

  async close(): Promise<void> {
    this.endRetention();
    this.rereading?.cancel();
    this.shared?.stop();
    await this.store.close();
    await this.deliveries.close();
  }

  counts(): Promise<DispatchCounts> {
    return this.service.counts();
  }

  /** Jobs made at run time, as they were when somebody last changed one. */
  jobs(): readonly JobRecord[] {
    return this.records;
  }

  /** A command has changed the store: there may be work, or another job. */
  changed(): void {
    this.service.wake();
    this.scheduler.refresh();
    this.readJobs().catch((error: unknown) => this.context.log.error({ err: error }, 'cannot read the jobs'));
  }

  /** Tries again where the store is not open yet: its disk is full, read-only or failing. */
  async readJobs(): Promise<void> {
    try {
      this.records = (await this.store.read({ kind: 'jobs' })).records;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.rereading?.cancel();
      this.rereading = this.context.clock.after(RETRY_MS, () => this.changed());
    }
  }

  /** How the work of all routes stands: also of a store that cannot be read, whose problem it is there to show. */
  async status(): Promise<WorkStatus> {
    const { store, context } = this;
    try {
      const [{ runs_active, runs_queued }, overview] = await Promise.all([this.counts(), this.overview()]);
      const { damage, bytes } = overview;
      return {
        runs: { active: runs_active, queued: runs_queued },
        dispatches: dispatchStatus(overview),
        store: { problem: store.problem(), damage, bytes },
      };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      const unreadable = { kind: 'unreadable', message: error.message, since: context.clock.now() } as const;
      return {
        runs: null,
        dispatches: null,
        store: { problem: store.problem() ?? unreadable, damage: null, bytes: 0 },
      };
    }
  }

  /** For metrics, which are asked for above all while something does not work. */
  async figures(): Promise<Pick<LiveFigures, 'storeUp' | 'stored'>> {
    const storeUp = this.store.problem() === null;
    try {
      const [work, { tallies, oldest_open_at }] = await Promise.all([this.counts(), this.overview()]);
      const age = oldest_open_at === null ? 0 : this.context.clock.now() - oldest_open_at;
      return { storeUp, stored: { work: { ...work }, tallies, oldestOpenSeconds: Math.max(0, age) / 1000 } };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return { storeUp: false, stored: null };
    }
  }

  private overview(): Promise<StoreOverview> {
    return this.store.read({ kind: 'overview', now: this.context.clock.now() });
  }
}

function dispatchStatus({ tallies, oldest_open_at, last_error }: StoreOverview): DispatchStatus {
  const count = (state: DispatchState) => [state, tallies.reduce((sum, tally) => sum + tally[state], 0)] as const;
  const states = Object.fromEntries(DISPATCH_STATES.map(count)) as DispatchStatus['states'];
  return { states, oldest_open_at, last_error };
}

async function link(context: WorkContext, { context: deliveries }: Deliveries, table: RouteTable): Promise<Linked> {
  const { home, env, log, run, redact, agent } = context;
  const secrets = await context.secrets(tableSecretRefs(table), table.server.host);
  const { linked: targets, problems } = linkTargets(table, secrets, deliveries);
  if (problems.length > 0) {
    throw new TableError(
      problems
        .map(
          ({ profile, target, message }) =>
            `target ${labelIn(table.targets, target)} of profile ${profile}: ${message}`,
        )
        .join('\n'),
    );
  }
  try {
    const readText = (path: string): Promise<string> => readRegularText(path, MAX_SKILL_BYTES);
    const http = deliveries.dispatcher;
    const agents = createAgents(table, { home, env, log, run, secrets, redact, agent, readText, http });
    return { table, secrets, targets, agents };
  } catch (error) {
    if (error instanceof SecretError) throw new TableError(`agent: ${error.message}`);
    throw error;
  }
}

/** A target without a binding of its own (`log`) uses the gateway's policy. */
function policyOf({ profiles, gateway }: RouteTable, profile: string, target: string): RetryPolicy {
  const targets = Object.hasOwn(profiles, profile) ? profiles[profile]?.targets : undefined;
  const binding = targets !== undefined && Object.hasOwn(targets, target) ? targets[target] : undefined;
  return binding ?? { max_attempts: gateway.max_attempts, retry_ambiguous: false };
}
