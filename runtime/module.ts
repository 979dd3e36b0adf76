/**
 * What a module adds to the runtime. Each function loads code, and is called only when the configuration needs it: what is
 * not configured is not loaded.
 */
import type { BudgetPlan, RoutePlan, RouteTable, SqliteStorePlan, StorePlan } from '../schemas/generated/types.ts';
import type { OpenConsole } from './console/console.ts';
import type { Deliverer, DriverLoaders } from './deliver/deliverer.ts';
import type { AgentRunner } from './dispatch/agent-runner.ts';
import type { FindBudgets, OpenApprovals, OpenGuard, OpenHandover } from './dispatch/context.ts';
import type { OpenStatuses, RequestTracing } from './intake/intake.ts';
import type { OpenKeeper } from './intake/keeper.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { SharedClock } from './platform/clock.ts';
import type { Logger, TraceFields } from './platform/log.ts';
import type { SandboxTools } from './platform/process/sandbox.ts';
import type { SecretResolver } from './platform/secrets.ts';
import type { Store } from './store/contract.ts';
import type { Rescue } from './store/sqlite/rescue.ts';
import type { Marks } from './table/link-template.ts';
import { TableError } from './table/table-source.ts';

/** What at most one module of a program has. Each is loaded when the configuration first needs it. */
export interface ModuleParts {
  /** Opens the stores that are not a file of the home. */
  readonly store: OpenStore;
  /** Watches over the store's file, where the store is one. */
  readonly rescue: Rescue;
  /** Keeps answered requests. */
  readonly keeper: OpenKeeper;
  /** Finds the budgets of runs. */
  readonly budgets: CreateFindBudgets;
  /** Marks untrusted values in prompts. */
  readonly marks: Marks;
  /** Runs programs in a sandbox. */
  readonly sandbox: SandboxTools;
  /** Takes and checks what runs hand over. */
  readonly outputs: OpenHandover;
  /** Tells senders what became of their events, for routes with `status_url`. */
  readonly statuses: OpenStatuses;
  /** Tells people of what waits for their approval. */
  readonly approvals: OpenApprovals;
  /** Tells operators of what fails. */
  readonly guard: OpenGuard;
  /** The second listener. */
  readonly console: OpenConsole;
  /** Counts requests, runs and deliveries, from the start; made anew for each service. */
  readonly metrics: Metrics;
  /** Traces events; loaded only where the program has registered an OpenTelemetry SDK. Null: it traces nothing. */
  readonly tracing: Tracing | null;
}

/** One module's part of the runtime. A member is absent where the module has no such part. */
export interface RuntimePart extends Loaders {
  /** Drivers of targets, by kind. */
  readonly drivers?: DriverLoaders;
}

type Loaders = { readonly [Name in keyof ModuleParts]?: () => Promise<ModuleParts[Name]> };

/** What is said where no module has the part. The others have a default, or an error of their own. */
const MISSING = {
  keeper: 'no module of this program keeps requests',
  budgets: 'budget: no module of this program keeps budgets',
  marks: 'no module of this program marks untrusted values',
  outputs: 'no module of this program takes outputs',
  statuses: 'status_url: no module of this program tells what became of events',
  approvals: 'no module of this program asks for approvals',
  guard: 'no module of this program tells of failures',
  console: 'gateway.console: no module of this program has a console',
} as const satisfies Partial<Record<keyof ModuleParts, string>>;

/** Loads the part of the module that has it; null when none has. */
export async function findPart<Name extends keyof ModuleParts>(
  modules: readonly RuntimePart[],
  name: Name,
): Promise<ModuleParts[Name] | null> {
  const loaders: readonly Pick<Loaders, Name>[] = modules;
  for (const { [name]: load } of loaders) if (load !== undefined) return load();
  return null;
}

/** Loads the part of the module that has it. Rejects with TableError when none has. @param where begins the refusal */
export async function requirePart<Name extends keyof typeof MISSING>(
  modules: readonly RuntimePart[],
  name: Name,
  where = '',
): Promise<ModuleParts[Name]> {
  const part = await findPart(modules, name);
  if (part === null) throw new TableError(`${where}${MISSING[name]}`);
  return part;
}

/**
 * Distributed tracing: an event has one trace from its request to its deliveries. The dispatch keeps the `traceparent` of its
 * request, and the `tracestate` with it, so that a run after a restart, or on another gateway, continues it.
 */
export interface Tracing extends RequestTracing {
  /** Begins the trace of a job's instant. @param dueAt Unix ms */
  fired(job: string, dueAt: number): TraceFields;
  /** Runs the agent within a span, whose context it gets. */
  agent<Agent extends AgentRunner>(agent: Agent): Agent;
  /** Makes each attempt within a span, whose context the target gets. */
  deliverer<Wrapped extends Deliverer>(deliverer: Wrapped): Wrapped;
}

/** The stores that are not a file of the home. */
export type SharedStorePlan = Exclude<StorePlan, SqliteStorePlan>;

/** What other gateways of a shared store see of this one. The functions are called every few seconds. */
export interface NodeIdentity {
  /** URL of this gateway. */
  readonly url: () => string;
  /** Version of hookwright. */
  readonly version: string;
  /** Hash of the table in service. */
  readonly table: () => string | null;
  /** Why this gateway does not serve what the others serve; null when it does. */
  readonly problem: () => string | null;
}

export interface StoreContext {
  /** `<home_dir>`. */
  readonly home: string;
  readonly clock: SharedClock;
  /** Called with the time of a shared database, which all its gateways follow. */
  readonly follow: SharedClock['follow'];
  readonly log: Logger;
  /** Writes buffered log lines, before the change that they report is stored. */
  readonly beforeCommit: () => void;
  readonly node: NodeIdentity;
}

export interface OpenedStore {
  readonly store: Store;
  /** The same store for callers whose instants are the machine's: commands and the embedding program. */
  readonly forCallers: Store;
  /** Whether other gateways may serve a path that has no route here. */
  readonly isPending: (path: string) => boolean;
}

/** Rejects with StoreRefused when the store cannot be used. A store that cannot be reached still opens. */
export type OpenStore = (context: StoreContext, plan: SharedStorePlan, secrets: SecretResolver) => Promise<OpenedStore>;

/** Budgets that are not in the table: of subscriptions, by JSON of profile and name, and of jobs of the store, by id. */
export interface LaterBudgets {
  readonly routes: ReadonlyMap<string, BudgetPlan>;
  readonly jobs: ReadonlyMap<string, BudgetPlan>;
}

/** @param machineZone IANA zone, for a config that names none @param later looked at each time */
export type CreateFindBudgets = (table: RouteTable, machineZone: string, later: LaterBudgets) => FindBudgets;

/** Loads the marks if any of the routes has marked values; null: none has. Rejects with TableError when no module has marks. */
export async function loadMarks(modules: readonly RuntimePart[], plans: readonly RoutePlan[]): Promise<Marks | null> {
  const marked = plans.find(isMarked);
  return marked === undefined ? null : requirePart(modules, 'marks', `route "${marked.name}": `);
}

/** Where `@opentelemetry/api` keeps what a program has registered: nothing is loaded to find that there is none. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Null: the program has registered no tracer provider, or no module traces. */
export async function loadTracing(modules: readonly RuntimePart[]): Promise<Tracing | null> {
  const registered = (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED];
  return registered?.trace === undefined ? null : findPart(modules, 'tracing');
}

/** A prompt with marked values starts with a notice that explains the marks. */
const isMarked = ({ prompt }: RoutePlan): boolean => prompt.some(({ kind }) => kind === 'notice');
