/** The public interface of a service: its options, methods and events. */
import type { ControlContract, EnrollReport, ReplayReport, StopResult } from '../../schemas/built/operations/types.ts';
import type { Catalog, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { ServiceStatus } from '../console/status.ts';
import type { ControlHandlers } from '../control/operations.ts';
import type { Redactor } from '../deliver/redact.ts';
import type { RunAgent } from '../dispatch/agent-runner.ts';
import type { AgentFunctions } from '../dispatch/agents/create-agents.ts';
import type { DispatchOwner } from '../dispatch/dispatcher.ts';
import type { EmitOptions, Emitted } from '../intake/emit.ts';
import type { RequestOrigin } from '../intake/fetch-request.ts';
import type { CaptureStore } from '../intake/keeper.ts';
import type { NodeListener } from '../intake/node-request.ts';
import type { ListenAddress } from '../intake/server.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import type { Store } from '../store/contract.ts';
import type { JobRecord } from '../store/records.ts';
import type { FinalState } from '../store/states.ts';
import type { FindDestination } from '../table/held-place.ts';
import type { LoweredSubscriptions, Rejected } from '../table/subscriptions.ts';
import type { TableState } from '../table/tables.ts';

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
  /**
   * `:memory:` stores events only in memory: they end with the service. Default: the store that the table names, a file of the
   * home.
   */
  readonly store?: ':memory:' | undefined;
  /** Served at `GET /blueprints`. Default: `blueprints.json` beside the table's file; without a file, nothing. */
  readonly blueprints?: Catalog;
  /** The environment for secrets and programs. Default: a copy of the process environment. */
  readonly env?: Environment | undefined;
  /** Replaces agents of the table: a function for the default one, or functions by name (`default`). Default: the table's. */
  readonly agent?: RunAgent | AgentFunctions | undefined;
  /** Address to listen on. Default: the table's host. */
  readonly host?: string | undefined;
  /** TCP port, 0 to 65535; 0: a free one. Default: the table's port. */
  readonly port?: number | undefined;
  /** IANA zone of jobs without one. Default: the machine's. */
  readonly timezone?: string | undefined;
  /** Default: warnings and errors, as JSON lines on stderr. */
  readonly log?: ServiceLog | undefined;
  /** Default: the system's clock; with a shared store it follows the database's time. */
  readonly clock?: Clock | undefined;
  /** Starts scripts, agents and command-line targets. Default: child processes. */
  readonly run?: RunProcess | undefined;
  /** Returns random bytes for ids. Default: node:crypto's. */
  readonly random?: ((bytes: number) => Buffer) | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Options that the program of this service adds. All have defaults. */
export interface ProgramOptions {
  /** Checks and lowers `webhook_subscriptions.json`. Default: the file is ignored. */
  readonly lowerSubscriptions?: CompileSubscriptions;
  /** Version of the program, shown to other gateways of the same store. Default: empty. */
  readonly version?: string;
  /** Why the newest configuration is not in service, shown to other gateways of the same store. Default: none. */
  readonly problem?: () => string | null;
  /** Absolute path of a table that is served until the file of `table` changes or `reload` is called. Default: none. */
  readonly firstTable?: string | undefined;
  /** Absolute path of a copy of each table that is in service, which programs in a sandbox cannot read. Default: none. */
  readonly servedCopy?: string | undefined;
  /**
   * Absolute path of a second `.env`, which takes precedence over `<home>/.env`; not read if others can write to it. Default:
   * none.
   */
  readonly projectEnv?: string | undefined;
  /** Collects all secrets that are read, so that the program can redact its own log. Default: the service creates one. */
  readonly redactor?: Redactor;
  /** Absolute paths that programs in a sandbox cannot read or write, such as the configuration. Default: none. */
  readonly hidden?: () => readonly string[];
  /**
   * Wraps the resolver of secrets with further checks, which throw SecretError. Default: none.
   * @param host the host on which the server listens
   */
  readonly checkSecrets?: (secrets: SecretResolver, host: string) => SecretResolver;
  /** Called with the names of the variables that hold secrets, after they were read. Default: not called. */
  readonly onSecretsRead?: (names: ReadonlySet<string>) => void;
}

/**
 * The log of a service. `flush`, for a log that buffers lines, writes them immediately; it is called before each commit.
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
 * Checks and lowers dynamic subscriptions. If it throws, the previous subscriptions stay in service.
 *
 * @param text the text of `webhook_subscriptions.json`
 * @param table the table in service
 * @param jobs the jobs of the store, which a subscription may name
 * @returns the routes to serve, and the rejected entries with reasons
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
  /** `done`, `dead` (failed permanently) or `skipped` (nothing to deliver, superseded, or rejected by a person). Final. */
  readonly state: FinalState;
  /** Why it is dead or skipped; null if it is done. */
  readonly reason: string | null;
  /** The agent's answer, also if it could not be delivered; null: no agent answered. */
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
  /** The service ended on its own, without `stop`. Stored work resumes when a service is created again. */
  failed: { readonly reason: string };
}

/**
 * A service, as `createService` creates it. It starts to work with `listen`, the first event, or `start`, whichever comes
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
  /**
   * Answers a request of `node:http`, whose body has not been read: a listener of a server, and a middleware of Express,
   * Connect and Fastify, below any path. With `next`, only paths below `/webhooks/` and `/p/` are answered.
   */
  readonly node: NodeListener;
  /**
   * Accepts an event of this program, without HTTP and signature, through all other stages. Rejects with TypeError for an
   * unknown route, and for a payload that is not JSON.
   * @param payload a JSON value
   */
  emit(route: string, payload: unknown, options?: EmitOptions): Promise<Emitted>;
  /** Fires jobs and resumes unfinished work, for a program that neither listens nor handles requests. Idempotent. */
  start(): void;
  /**
   * Serves this table from the next request on; a file is no longer watched. Rejects with TableError; then the old table stays.
   * @param table the new table
   * @param blueprints served at `GET /blueprints`. Default: those served before
   */
  swap(table: RouteTable, blueprints?: Catalog): Promise<void>;
  /**
   * Loads the table's file if it changed; with `relink` even if it did not, because secrets may have changed. False: the old
   * table stays in service.
   */
  reload(relink?: boolean): Promise<boolean>;
  /** The status that `hookwright gateway status` shows. */
  status(): Promise<ServiceStatus>;
  /** The captured requests, including those that were just answered. */
  requests(): Promise<CaptureStore['requests']>;
  /**
   * Sends a captured request through the stages again, as a new one. Rejects with ControlError if that is not possible.
   * @param id of the captured request, or a prefix of it @param by the person who replays it
   */
  replay(id: string, by?: string): Promise<ReplayReport>;
  /** Prometheus text. */
  metrics(): Promise<{ readonly content_type: string; readonly text: string }>;
  /** Adds a listener for events of this kind; returns a function that removes it. */
  on<Name extends keyof ServiceEvents>(name: Name, listener: (event: ServiceEvents[Name]) => void): () => void;
  /**
   * Answers with 503 from now on, drains work, then closes server and store.
   * @param options `drainMs`: maximum wait for running work, in ms; default: the table's. Interrupted work resumes after the
   * next start. Rejects with TypeError for an invalid number of ms
   */
  stop(options?: { readonly drainMs?: number }): Promise<StopResult>;
}

/** A service with the operations of its program: the commands of a gateway, through its control socket and its console. */
export interface OperatedService extends Service {
  /** URL of the public server; null before it listens, and after it has stopped. */
  readonly publicUrl: string | null;
  /** Load time of the table, and why the newest one is not in service. */
  readonly tableState: TableState;
  /** Call `changed` after changing it. */
  readonly store: Store;
  /** Current destination of a target. */
  readonly place: FindDestination;
  /** @param operations called by the console; null: the program has none */
  listen(
    at?: Partial<ListenAddress>,
    operations?: ControlHandlers | null,
  ): Promise<ListenAddress & { readonly url: string }>;
  /** Waits for a limited time for the secret in the handshake of a route's sender; call it again until it arrives. */
  enroll(awaited: ControlContract['enroll']['input']): Promise<EnrollReport>;
  /** Sends a test message to the targets of alerts. Returns its id; null: the table has no `gateway.alerts`. */
  testAlerts(): Promise<string | null>;
  /** Call when there may be new work or a changed job. */
  changed(): void;
}
