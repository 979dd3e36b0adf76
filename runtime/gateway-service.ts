/** What a service is made of, and what it can be asked: the interface of the runtime for programs that embed it. */
import type { Catalog, RoutePlan, RouteTable } from '../schemas/generated/types.ts';
import type { KeptRequests } from './capture/kept-request.ts';
import type { EnrollReport, ReplayReport, WorkStatus } from './control/operations.ts';
import type { Redactor } from './deliver/redact.ts';
import type { RunAgent } from './dispatch/agent-runner.ts';
import type { DispatchOwner } from './dispatch/observer.ts';
import type { ListenAddress, ServingStatus } from './gateway-options.ts';
import type { RequestOrigin } from './intake/fetch-request.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/log.ts';
import type { RunProcess } from './platform/process/run-process.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import type { JobRecord } from './store/job-mutations.ts';
import type { FinalState } from './store/states.ts';
import type { Store } from './store/store.ts';
import type { Rejected } from './table/load-subscriptions.ts';
import type { TableState } from './table/tables.ts';

export interface ServiceOptions {
  /** A compiled table, or the absolute path of one (`routes.json`), which is then loaded again when it changes. */
  readonly table: RouteTable | { readonly file: string };
  /** `<home_dir>`, absolute: store, secrets, scripts, skills. Created, readable by its owner alone, when it is not there. */
  readonly home: string;
  /** What `GET /blueprints` answers. Default: `blueprints.json` beside the table's file; without a file, nothing. */
  readonly blueprints?: Catalog;
  /** Where secrets and programs find their variables. Default: as the process has it now. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** In place of the agent that the table names; a map has it as `default`. */
  readonly agent?: RunAgent | { readonly default: RunAgent };
  /** Where it listens, in place of what the table says. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /**
   * Checks and lowers `webhook_subscriptions.json`, as `subscriptionCompiler` of `hookwright/compiler` does. Default: none,
   * the file is ignored.
   */
  readonly lowerSubscriptions?: CompileSubscriptions;
  /** Version of the program, as other gateways that share the store see it. Default: empty. */
  readonly version?: string;
  /** The IANA zone of jobs that name none. Default: the machine's. */
  readonly timezone?: string;
  /** A further file of variables, which wins over `<home>/.env`; absolute. One that others can write is not read. Default: none. */
  readonly projectEnv?: string | undefined;
  /** Default: warnings and errors, as JSON lines on stderr. */
  readonly log?: ServiceLog;
  /** Knows every secret that was read, for a log of the program's own: pass its lines through `redact`. */
  readonly redactor?: Redactor;
  /** Default: the system's; instants are the database's where the store is one that gateways share. */
  readonly clock?: Clock;
  /** Starts scripts, agents and command-line targets. Default: child processes. */
  readonly run?: RunProcess;
  /** Random bytes for ids. Default: node:crypto's. */
  readonly random?: (bytes: number) => Buffer;
  /**
   * Puts further conditions on secrets: what it returns resolves them, or throws SecretError. Default: none.
   * @param host what the server listens on
   */
  readonly checkSecrets?: (secrets: SecretResolver, host: string) => SecretResolver;
  /** Called with the names of variables that hold secrets, once they were read. */
  readonly onSecretsRead?: (names: ReadonlySet<string>) => void;
}

/** `flush`, where a log keeps lines back, writes them at once. */
export type ServiceLog = Logger & { flush?(): void };

/** @param jobs those of the store, which a subscription may name */
export type CompileSubscriptions = (
  text: string,
  table: RouteTable,
  jobs: readonly JobRecord[],
) => { readonly routes: readonly RoutePlan[]; readonly rejected: readonly Rejected[] };

/** A dispatch that has ended. */
export interface FinishedDispatch extends DispatchOwner {
  readonly state: FinalState;
  /** Why it is not simply done; else null. */
  readonly reason: string | null;
}

export interface ServiceEvents {
  finished: FinishedDispatch;
}

export interface ServiceStatus extends ServingStatus, WorkStatus {
  /** Where the console listens; null: it has none. */
  readonly console: string | null;
  /** Unix ms. */
  readonly startedAt: number;
}

export interface StopResult {
  /** False when the time ended with work still running. */
  readonly drained: boolean;
  /** Runs and deliveries that were interrupted; they resume after the next start. */
  readonly abandoned: number;
}

/** Begins to work with `listen`, the first `handle`, or `start`, whichever comes first. */
export interface Service {
  /** The table in service. */
  readonly table: RouteTable;
  /** When it was loaded, and why the newest one is not it. */
  readonly tableState: TableState;
  /** The store behind it. Who changes it tells so with `changed`. */
  readonly store: Store;
  /** Jobs made at run time. */
  readonly jobs: readonly JobRecord[];
  /**
   * Serves over HTTP.
   * @throws ListenError when the address cannot be bound; TableError when a route without a signature must not be served there
   */
  listen(at?: Partial<ListenAddress>): Promise<ListenAddress & { readonly url: string }>;
  /**
   * Answers a request of another server, without a listener of its own. Rejects only when the sender goes away.
   * @param from the peer's address: a route without a signature takes requests from this machine only
   */
  handle(request: Request, from?: RequestOrigin): Promise<Response>;
  /** Fires jobs and resumes what the last stop left, for a program that neither listens nor handles. Idempotent. */
  start(): void;
  /** Serves another table from the next request on; a file is no longer watched. @throws TableError: the old one stays */
  swap(table: RouteTable, blueprints?: Catalog): Promise<void>;
  /** Loads the table's file again, with `relink` also when it did not change: secrets and lists may have. False: the old one stays. */
  reload(relink?: boolean): Promise<boolean>;
  /** What `hookwright gateway status` shows. */
  status(): Promise<ServiceStatus>;
  /** Requests that were kept, those that have just been answered among them. */
  requests(): Promise<KeptRequests>;
  /** Sends a kept request through the stages again, as a new one. @throws ControlError when it cannot be */
  replay(id: string): Promise<ReplayReport>;
  /** Prometheus text. */
  metrics(): Promise<{ readonly content_type: string; readonly text: string }>;
  /** Waits for the secret that a route's sender sends in its handshake; to be called again until it came. */
  enroll(route: { readonly profile: string; readonly route: string }): Promise<EnrollReport>;
  /** The store was changed past the service: there may be work, or another job. */
  changed(): void;
  /** Calls back for each event of this kind; returns the way to stop. */
  on<Name extends keyof ServiceEvents>(name: Name, listener: (event: ServiceEvents[Name]) => void): () => void;
  /** Answers 503 from now on, finishes what it can in `drainMs` (default: the table's), then closes server and store. */
  stop(options?: { readonly drainMs?: number }): Promise<StopResult>;
}
