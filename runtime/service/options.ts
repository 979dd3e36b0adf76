/** The options of a service, for programs that embed the runtime. */
import type { Catalog, RouteTable } from '../../schemas/generated/types.ts';
import type { Redactor } from '../deliver/redact/redact.ts';
import type { RunAgent } from '../dispatch/agent-runner.ts';
import type { AgentFunctions } from '../dispatch/agents/create-agents.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import type { JobRecord } from '../store/job-mutations.ts';
import type { LoweredSubscriptions } from '../table/subscriptions.ts';

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
