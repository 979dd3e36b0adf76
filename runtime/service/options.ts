/** The options and the interface of a service, for programs that embed the runtime, and the options as its parts take them. */

import { randomBytes } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import type { Catalog, RoutePlan, RouteTable, SecretRef } from '../../schemas/generated/types.ts';
import type { EnrollReport, ReplayReport } from '../control/operations.ts';
import { Redactor } from '../deliver/redact/redact.ts';
import type { RunAgent } from '../dispatch/agent-runner.ts';
import type { AgentFunctions } from '../dispatch/agents/create-agents.ts';
import { WorkFolders } from '../dispatch/agents/work-folders.ts';
import type { StopResult } from '../dispatch/dispatcher.ts';
import type { DispatchOwner } from '../dispatch/observer.ts';
import type { CatalogSource } from '../intake/documents.ts';
import { catalogFile, catalogValue, Documents } from '../intake/documents.ts';
import type { RequestOrigin } from '../intake/fetch-request.ts';
import type { Keeper } from '../intake/keeper.ts';
import type { ListenAddress } from '../intake/server.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { RuntimePart } from '../module.ts';
import type { Clock } from '../platform/clock.ts';
import { systemClock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { createIds } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { createLogger } from '../platform/logger.ts';
import type { GatewayFiles } from '../platform/node-files.ts';
import { gatewayFiles } from '../platform/node-files.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import { runProcess } from '../platform/process/run-process.ts';
import { secretReader, userHome } from '../platform/secrets/machine-secrets.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { SharedClock } from '../platform/shared-clock.ts';
import type { JobRecord } from '../store/job-mutations.ts';
import type { FinalState } from '../store/states.ts';
import type { Store } from '../store/store.ts';
import type { LoweredSubscriptions, Rejected } from '../table/subscriptions.ts';
import type { TableSource } from '../table/table-source.ts';
import { tableFile, tableValue } from '../table/table-source.ts';
import type { TableState } from '../table/tables.ts';
import { Enrolments, storeCaptured } from '../verify/enrolment.ts';
import type { Confinement } from './confine.ts';
import { createConfinement } from './confine.ts';
import type { ServiceStatus } from './status.ts';

/**
 * Options of `createService`. Everything but `table` and `home` has a default.
 *
 * @example
 * ```ts
 * import type { ServiceOptions } from 'hookwright/runtime';
 *
 * const options: ServiceOptions = { table: { file: '/var/lib/app/routes.json' }, home: '/var/lib/app', port: 9000 };
 * ```
 */
export interface ServiceOptions {
  /** A compiled table, or the absolute path of one (`routes.json`), which is loaded again when it changes. */
  readonly table: RouteTable | { readonly file: string };
  /** `<home_dir>`, absolute, with store, secrets, scripts and skills. Created with mode 0700 if it is missing. */
  readonly home: string;
  /** Served at `GET /blueprints`. Default: `blueprints.json` beside the table's file; without a file, nothing. */
  readonly blueprints?: Catalog;
  /** The environment for secrets and programs. Default: a copy of the process environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Used instead of agents of the table: a function for the default one, or functions by name (`default`). Default: the table's. */
  readonly agent?: RunAgent | AgentFunctions;
  /** Address to listen on. Default: the table's host. */
  readonly host?: string | undefined;
  /** TCP port, 0 to 65535; 0: a free one. Default: the table's port. */
  readonly port?: number | undefined;
  /**
   * Checks and lowers `webhook_subscriptions.json`, as `subscriptionCompiler` of `hookwright/compiler` does. Default: the
   * file is ignored.
   */
  readonly lowerSubscriptions?: CompileSubscriptions;
  /** Version of the program, shown to other gateways of the same store. Default: empty. */
  readonly version?: string;
  /** Why the newest configuration is not in service, shown to other gateways of the same store. Default: none. */
  readonly problem?: () => string | null;
  /** IANA zone of jobs that name none. Default: the machine's. */
  readonly timezone?: string;
  /** Absolute path of a second `.env`, which wins over `<home>/.env`; not read if others can write to it. Default: none. */
  readonly projectEnv?: string | undefined;
  /** Default: warnings and errors, as JSON lines on stderr. */
  readonly log?: ServiceLog;
  /** Collects all secrets that are read, so that a program can redact its own log with `redact`. Default: one of the service. */
  readonly redactor?: Redactor;
  /** Default: the system's clock; with a shared store it follows the database's time. */
  readonly clock?: Clock;
  /** Starts scripts, agents and command-line targets. Default: child processes. */
  readonly run?: RunProcess;
  /** Absolute paths that programs in a sandbox cannot read or write, such as the configuration. Default: none. */
  readonly hidden?: () => readonly string[];
  /** Returns random bytes for ids. Default: node:crypto's. */
  readonly random?: (bytes: number) => Buffer;
  /**
   * Wraps the resolver of secrets with further checks, which throw SecretError. Default: none.
   * @param host the host on which the server listens
   */
  readonly checkSecrets?: (secrets: SecretResolver, host: string) => SecretResolver;
  /** Called with the names of the variables that hold secrets, after they were read. Default: not called. */
  readonly onSecretsRead?: (names: ReadonlySet<string>) => void;
}

/**
 * The log of a service. `flush`, if the log buffers lines, writes them at once; it is called before each commit.
 *
 * @example
 * ```ts
 * import type { ServiceLog } from 'hookwright/runtime';
 *
 * const log: ServiceLog = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error };
 * ```
 */
export type ServiceLog = Logger & { flush?(): void };

/**
 * Checks and lowers dynamic subscriptions: `subscriptionCompiler` of `hookwright/compiler` creates one. If it throws, the
 * previous subscriptions stay in service.
 *
 * @param text the text of `webhook_subscriptions.json`
 * @param table the table in service
 * @param jobs the jobs of the store, which a subscription may name
 * @returns the routes to serve, and the rejected entries with reasons
 *
 * @example
 * ```ts
 * import type { CompileSubscriptions } from 'hookwright/runtime';
 *
 * const none: CompileSubscriptions = () => ({ routes: [], rejected: [] });
 * ```
 */
export type CompileSubscriptions = (
  text: string,
  table: RouteTable,
  jobs: readonly JobRecord[],
) => LoweredSubscriptions | Promise<LoweredSubscriptions>;

/**
 * A dispatch that has ended; its state is stored.
 *
 * @example
 * ```ts
 * import type { FinishedDispatch } from 'hookwright/runtime';
 *
 * const print = ({ id, route, job, state, reason }: FinishedDispatch): string => `${id} ${route ?? job}: ${reason ?? state}`;
 * ```
 */
export interface FinishedDispatch extends DispatchOwner {
  /** `done`, `dead` (given up) or `skipped` (nothing to deliver, or superseded). Final. */
  readonly state: FinalState;
  /** Why it is dead or skipped; null when it is done. */
  readonly reason: string | null;
  /** What the agent has answered, also when it could not be delivered; null: no agent has answered. */
  readonly answer: string | null;
}

/**
 * The events of `Service.on`, by name.
 *
 * @example
 * ```ts
 * import type { Service, ServiceEvents } from 'hookwright/runtime';
 *
 * const record = (service: Service, ended: ServiceEvents['finished'][]) => service.on('finished', (event) => ended.push(event));
 * ```
 */
export interface ServiceEvents {
  /** A dispatch has ended. */
  finished: FinishedDispatch;
}

/**
 * A service, as `createService` creates it. It starts to work with `listen`, the first `handle`, or `start`, whichever comes
 * first, and ends with `stop`.
 *
 * @example
 * ```ts
 * import { compileText } from 'hookwright/compiler';
 * import { createService } from 'hookwright/runtime';
 *
 * const yaml = 'platforms: { webhook: { enabled: true, secret: "env:SECRET", routes: { issues: { prompt: "{title}" } } } }';
 * const env = { SECRET: 'at-least-16-bytes-long' };
 * const { table } = await compileText(yaml, { home: '/var/lib/app', env });
 * if (table === null) throw new Error('the config has errors');
 *
 * const service = await createService({ table, home: '/var/lib/app', env });
 * const off = service.on('finished', ({ route, state }) => console.log(route, state));
 * const unsigned = new Request('http://app.example/webhooks/issues', { method: 'POST', body: '{"title":"x"}' });
 * console.log((await service.handle(unsigned)).status); // 401
 * await service.swap(table);
 * console.log((await service.status()).state); // serving
 * off();
 * await service.stop({ drainMs: 1000 });
 * ```
 */
export interface Service {
  /** The table in service. */
  readonly table: RouteTable;
  /** When the table was loaded, and why the newest one is not in service. */
  readonly tableState: TableState;
  /** The store. Call `changed` after changing it. */
  readonly store: Store;
  /** The dynamic routes in service, and the entries that are not. */
  readonly subscriptions: { readonly routes: readonly RoutePlan[]; readonly rejected: readonly Rejected[] };
  /** Jobs created at run time. */
  readonly jobs: readonly JobRecord[];
  /**
   * Serves over HTTP. Rejects with ListenError when the address cannot be bound, with TableError when a route without a
   * signature must not be served there.
   * @param at host and port. Default: those of the options, else of the table
   * @returns the bound address and its URL, without a path
   */
  listen(at?: Partial<ListenAddress>): Promise<ListenAddress & { readonly url: string }>;
  /**
   * Answers a request that another server received. Rejects only when the sender closes the connection.
   * @param from the peer's address; a route without a signature accepts only requests from this machine
   */
  handle(request: Request, from?: RequestOrigin): Promise<Response>;
  /** Fires jobs and resumes unfinished work, for a program that neither listens nor handles requests. Idempotent. */
  start(): void;
  /**
   * Serves this table from the next request on; a file is no longer watched. Rejects with TableError: then the old one stays.
   * @param table the new table
   * @param blueprints served at `GET /blueprints`. Default: those served before
   */
  swap(table: RouteTable, blueprints?: Catalog): Promise<void>;
  /** Loads the table's file if it changed; with `relink` even if it did not, because secrets may have. False: the old one stays. */
  reload(relink?: boolean): Promise<boolean>;
  /** The status that `hookwright gateway status` shows. */
  status(): Promise<ServiceStatus>;
  /** The kept requests, including those that have just been answered. */
  requests(): Promise<Keeper['requests']>;
  /**
   * Sends a kept request through the stages again, as a new one. Rejects with ControlError when that is not possible.
   * @param id of the kept request, or a prefix of it
   */
  replay(id: string): Promise<ReplayReport>;
  /** Prometheus text. */
  metrics(): Promise<{ readonly content_type: string; readonly text: string }>;
  /** Waits for a limited time for the secret in the handshake of a route's sender; call it again until it has arrived. */
  enroll(route: { readonly profile: string; readonly route: string }): Promise<EnrollReport>;
  /** Stores a message that says it is a test, for where alerts go. Returns its id; null: the table has no `gateway.alerts`. */
  testAlerts(): Promise<string | null>;
  /** Call after changing the store directly: there may be new work or a changed job. */
  changed(): void;
  /** Adds a listener for events of this kind; returns a function that removes it. */
  on<Name extends keyof ServiceEvents>(name: Name, listener: (event: ServiceEvents[Name]) => void): () => void;
  /**
   * Answers with 503 from now on, drains work, then closes server and store.
   * @param options `drainMs`: longest wait for work under way, in ms; default: the table's. What is interrupted resumes after
   * the next start
   */
  stop(options?: { readonly drainMs?: number }): Promise<StopResult>;
}

type Filled = 'home' | 'env' | 'lowerSubscriptions' | 'version' | 'problem' | 'timezone' | 'log' | 'redactor' | 'run';

/** The options as the parts of a service take them. */
export interface ServiceContext extends Required<Pick<ServiceOptions, Filled>>, Pick<ServiceOptions, 'host' | 'port'> {
  readonly modules: readonly RuntimePart[];
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /** The compiled table. */
  readonly source: TableSource;
  /** The documents that are served beside the routes. */
  readonly documents: Documents;
  /** Used instead of the table's agents of these names. */
  readonly functions: AgentFunctions;
  readonly clock: SharedClock;
  /** Called with the time of a shared database; does nothing when the program passes its own clock. */
  readonly follow: SharedClock['follow'];
  readonly files: GatewayFiles;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly workFolders: WorkFolders;
  readonly confinement: Confinement;
  /** Secrets that arrive in handshakes. */
  readonly enrolments: Pick<Enrolments, 'capture' | 'wait'>;
  /** Reads the current values of these references, without blocking. @param host the host on which the server listens */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
}

function isZone(timezone: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: timezone }) !== null;
  } catch {
    return false;
  }
}

const functionsOf = (agent: ServiceOptions['agent']): AgentFunctions =>
  agent === undefined ? {} : typeof agent === 'object' && agent !== null ? agent : { default: agent };

/** For programs without types. @throws TypeError naming the option and what it has to be */
function checkOptions({ table, home, port = 0, agent, timezone = 'UTC' }: ServiceOptions): void {
  const functions: readonly unknown[] = Object.values(functionsOf(agent));
  const wrong: readonly (readonly [boolean, string])[] = [
    [typeof table !== 'object' || table === null, 'table: a compiled table, or { file }'],
    [typeof home !== 'string' || !isAbsolute(home), 'home: an absolute path'],
    [!Number.isInteger(port) || port < 0 || port > 65_535, 'port: an integer from 0 to 65535'],
    [!isZone(timezone), 'timezone: an IANA zone, such as Europe/Vienna'],
    [functions.some((one) => typeof one !== 'function'), 'agent: a function, or functions by name ({ default, … })'],
  ];
  const [first] = wrong.filter(([isWrong]) => isWrong);
  if (first !== undefined) throw new TypeError(`createService: ${first[1]}`);
}

/** Fills in the defaults. @throws TypeError for an option of another kind, TableError when the table has another format */
export function resolveOptions(options: ServiceOptions, modules: readonly RuntimePart[]): ServiceContext {
  checkOptions(options);
  const { home, host, port, table, agent, projectEnv } = options;
  const { env = { ...process.env }, redactor = new Redactor(), random = randomBytes } = options;
  const clock = new SharedClock(options.clock ?? systemClock);
  const log = options.log ?? defaultLog(redactor);
  const folders = { home, userHome: userHome(env) };
  const run = options.run ?? ((request) => runProcess(request, { clock, home }));
  const hidden = (): readonly string[] => [
    ...(options.hidden?.() ?? []),
    ...(projectEnv === undefined ? [] : [projectEnv]),
  ];
  return {
    ...{ modules, host, port, env, redactor, clock, log },
    ...folders,
    source: 'file' in table ? tableFile(table.file, gatewayFiles, clock) : tableValue(table),
    documents: new Documents(catalogOf(options, clock), log),
    functions: functionsOf(agent),
    lowerSubscriptions: options.lowerSubscriptions ?? (() => ({ routes: [], rejected: [] })),
    version: options.version ?? '',
    problem: options.problem ?? (() => null),
    timezone: options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    follow: options.clock === undefined ? clock.follow : () => {},
    run,
    confinement: createConfinement(modules, { ...folders, run, hidden, log, sweep: true }),
    files: gatewayFiles,
    ids: createIds(random),
    metrics: new Metrics(),
    workFolders: new WorkFolders(log),
    enrolments: new Enrolments({ clock, store: (plan, secret) => storeCaptured(folders, plan, secret) }),
    secrets: secretReader({
      sources: { env, home, projectEnv },
      known: (values) => redactor.add(values),
      onRead: options.onSecretsRead ?? (() => {}),
      check: options.checkSecrets ?? ((secrets) => secrets),
    }),
  };
}

function catalogOf({ table, blueprints }: ServiceOptions, clock: Clock): CatalogSource {
  if (blueprints !== undefined) return catalogValue(blueprints);
  if (!('file' in table)) return catalogValue([]);
  return catalogFile(join(dirname(table.file), 'blueprints.json'), gatewayFiles, clock);
}

function defaultLog({ redact }: Redactor): ServiceLog {
  return createLogger({
    ...{ stream: process.stderr, level: 'warn', pretty: false, colour: false, clock: systemClock, redact },
  });
}
