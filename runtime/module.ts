/** The interface of a module's runtime part. Each function loads code, and is called only when the configuration needs it. */
import type { ExplainedBudget, RoutePlan, RouteTable, SqliteStorePlan, StorePlan } from '../schemas/generated/types.ts';
import type { OpenConsole } from './console/console.ts';
import type { Deliverer, DriverLoaders } from './deliver/deliverer.ts';
import type { AgentRunner } from './dispatch/agent-runner.ts';
import type { OpenProgram } from './dispatch/agents/known-program.ts';
import type { FindLimits, OpenApprovals, OpenGuard, OpenHandover, OpenProgress } from './dispatch/context.ts';
import type { OpenStatuses, RequestTracing } from './intake/intake.ts';
import type { OpenCaptureStore } from './intake/keeper.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { SharedClock } from './platform/clock.ts';
import type { Logger, TraceFields } from './platform/log.ts';
import type { SandboxTools } from './platform/process/sandbox.ts';
import type { SecretResolver } from './platform/secrets.ts';
import type { Store } from './store/contract.ts';
import type { JobRecord } from './store/records.ts';
import type { GuardRows, RunCounter, RunLimit } from './store/run-limits.ts';
import type { Rescue } from './store/sqlite/rescue.ts';
import type { StorePart } from './store/store-part.ts';
import type { Marks } from './table/link-template.ts';
import { TableError } from './table/table-source.ts';

/** Parts that at most one module of a program provides. Each is loaded when the configuration first needs it. */
export interface ModuleParts {
  /** Opens stores other than the file of the home. */
  readonly store: OpenStore;
  /** Checks and repairs the store's file, if the store is a file. */
  readonly rescue: Rescue;
  /** Captures answered requests. */
  readonly keeper: OpenCaptureStore;
  /** Limits runs. */
  readonly limits: RunLimits;
  /** Marks untrusted values in prompts. */
  readonly marks: Marks;
  /** Runs programs in a sandbox. */
  readonly sandbox: SandboxTools;
  /** Starts known programs, and reads what they print. */
  readonly programs: OpenProgram;
  /** Accepts and checks the outputs of runs. */
  readonly outputs: OpenHandover;
  /** Reports the status of events to senders, for routes with `status_url`. */
  readonly statuses: OpenStatuses;
  /** Shows the progress of events at their objects. */
  readonly progress: OpenProgress;
  /** Notifies people of messages that wait for their approval. */
  readonly approvals: OpenApprovals;
  /** Notifies operators of failures. */
  readonly guard: OpenGuard;
  /** The second listener. */
  readonly console: OpenConsole;
  /** Counts requests, runs and deliveries, from the start; one instance for each service. */
  readonly metrics: Metrics;
  /** Traces events. Loaded only if the program has registered an OpenTelemetry SDK. Null: tracing is off. */
  readonly tracing: Tracing | null;
}

/** One module's part of the runtime. Absent members mean that the module has no such part. */
export interface RuntimePart extends Loaders {
  /** Drivers of targets, by kind. */
  readonly drivers?: DriverLoaders;
  /** What it brings to the changes of any store. */
  readonly changes?: () => Promise<StorePart>;
}

type Loaders = { readonly [Name in keyof ModuleParts]?: () => Promise<ModuleParts[Name]> };

/** Errors for parts that no module provides. Other parts have a default, or their own error. */
const MISSING = {
  keeper: 'capturing requests needs the module workbench, which is not loaded',
  marks: 'marking untrusted values needs the module payloads, which is not loaded',
  outputs: 'outputs need the module outputs, which is not loaded',
  progress: '`progress` needs the module codehosts, which is not loaded',
  statuses: 'status_url needs the module outputs, which is not loaded',
  approvals: 'approvals need the module outputs, which is not loaded',
  guard: 'alerts need the module guard, which is not loaded',
  console: 'gateway.console needs the module console, which is not loaded',
} as const satisfies Partial<Record<keyof ModuleParts, string>>;

/** Loads the part of the module that provides it; null if none does. */
export async function findPart<Name extends keyof ModuleParts>(
  modules: readonly RuntimePart[],
  name: Name,
): Promise<ModuleParts[Name] | null> {
  const loaders: readonly Pick<Loaders, Name>[] = modules;
  for (const { [name]: load } of loaders) if (load !== undefined) return load();
  return null;
}

/** Loads what the modules bring to the changes of a store. */
export const loadChanges = (modules: readonly RuntimePart[]): Promise<readonly StorePart[]> =>
  Promise.all(modules.flatMap(({ changes }) => (changes === undefined ? [] : [changes()])));

/** Loads the part of the module that provides it. Rejects with TableError if none does. @param where prefix of the error */
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
 * Distributed tracing: an event has one trace from its request to its deliveries. The dispatch stores the `traceparent` and
 * `tracestate` of its request, so that a run after a restart, or on another gateway, continues the trace.
 */
export interface Tracing extends RequestTracing {
  /** Starts the trace of a scheduled run. @param dueAt Unix ms */
  fired(job: string, dueAt: number): TraceFields;
  /** Wraps the agent so that each run has a span, whose context it gets. */
  agent<Agent extends AgentRunner>(agent: Agent): Agent;
  /** Wraps the deliverer so that each attempt has a span, whose context the target gets. */
  deliverer<Wrapped extends Deliverer>(deliverer: Wrapped): Wrapped;
}

/** Stores other than the file of the home. */
export type SharedStorePlan = Exclude<StorePlan, SqliteStorePlan>;

/** What other gateways of a shared store see of this one. The functions are called every few seconds. */
export interface NodeIdentity {
  /** URL of this gateway. */
  readonly url: () => string;
  /** Version of hookwright. */
  readonly version: string;
  /** Hash of the table in service. */
  readonly table: () => string | null;
  /** Why this gateway does not serve the same table as the others; null if it does. */
  readonly problem: () => string | null;
}

export interface StoreContext {
  /** `<home_dir>`. */
  readonly home: string;
  readonly clock: SharedClock;
  /** Called with the time of a shared database, which all its gateways follow. */
  readonly follow: SharedClock['follow'];
  readonly log: Logger;
  /** Writes buffered log lines before the change that they report is stored. */
  readonly beforeCommit: () => void;
  /** What modules bring to its changes. */
  readonly parts: readonly StorePart[];
  readonly node: NodeIdentity;
}

export interface OpenedStore {
  readonly store: Store;
  /** The same store for callers that use the machine's clock: commands and the embedding program. */
  readonly forCallers: Store;
  /** True if other gateways may serve a path that has no route here. */
  readonly isPending: (path: string) => boolean;
}

/** Rejects with StoreRefused if the store cannot be used. An unreachable store still opens. */
export type OpenStore = (context: StoreContext, plan: SharedStorePlan, secrets: SecretResolver) => Promise<OpenedStore>;

export interface LimitsContext {
  /** The table in service. */
  readonly table: () => RouteTable;
  /** IANA zone of the machine, for a config that names none. */
  readonly timezone: string;
}

/** Finds the limits of runs. All methods throw TableError for a limit that is not supported. */
export interface OpenLimits extends FindLimits {
  /** Call before the table is served. */
  prepare(table: RouteTable): void;
  /** Call before these subscriptions replace the previous ones. */
  subscribed(plans: readonly RoutePlan[]): void;
  /** Call before these jobs of the store replace the previous ones. */
  stored(records: readonly JobRecord[]): void;
}

/** The limits of runs: finds those of a run, and applies them in the store. */
export interface RunLimits {
  readonly counter: RunCounter;
  open(context: LimitsContext): OpenLimits;
  /** Describes the budgets among the limits, for people. @param now Unix ms */
  explain(rows: GuardRows, limits: readonly RunLimit[], now: number): readonly ExplainedBudget[];
}

/**
 * Loads the marks if any of the routes has marked values; null: none has. Rejects with TableError if no module provides marks.
 */
export async function loadMarks(modules: readonly RuntimePart[], plans: readonly RoutePlan[]): Promise<Marks | null> {
  const marked = plans.find(isMarked);
  return marked === undefined ? null : requirePart(modules, 'marks', `route "${marked.name}": `);
}

/** Where `@opentelemetry/api` stores what a program has registered. Reading it loads nothing. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Null: the program has registered no tracer provider, or no module traces. */
export async function loadTracing(modules: readonly RuntimePart[]): Promise<Tracing | null> {
  const registered = (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED];
  return registered?.trace === undefined ? null : findPart(modules, 'tracing');
}

/** A prompt with marked values starts with a notice that explains the marks. */
const isMarked = ({ prompt }: RoutePlan): boolean => prompt.some(({ kind }) => kind === 'notice');
