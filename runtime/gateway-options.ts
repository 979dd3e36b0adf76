/** The options and the interface of the gateway. */
import type { RoutePlan, RouteTable, SecretRef } from '../schemas/generated/types.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import type { CatalogSource } from './intake/catalog-source.ts';
import type { CountRequest } from './intake/event-log.ts';
import type { RequestOrigin } from './intake/fetch-request.ts';
import type { Services } from './intake/intake.ts';
import type { Keeping } from './intake/keeper.ts';
import type { ServerLimits } from './intake/server.ts';
import type { RuntimePart } from './module.ts';
import type { Clock } from './platform/clock.ts';
import type { Ids } from './platform/ids.ts';
import type { Logger } from './platform/log.ts';
import type { GatewayFiles } from './platform/node-files.ts';
import type { RunProcess } from './platform/process/run-process.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import type { LowerSubscriptions, Rejected } from './table/load-subscriptions.ts';
import type { TableSource } from './table/table-source.ts';
import type { TableState } from './table/tables.ts';
import type { CaptureSecret } from './verify/handshake.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface GatewayOptions {
  /** `<home_dir>`. */
  readonly home: string;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /** The process environment; scripts inherit a few of its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly modules: readonly RuntimePart[];
  /** The compiled table. */
  readonly source: TableSource;
  /** The blueprint catalog. */
  readonly catalog: CatalogSource;
  /** Replaces the table's host. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly limits?: Partial<ServerLimits>;
  readonly dispatcher: Dispatcher;
  /** Flushes and finishes the dispatcher's work within `timeoutMs`; resolves to the number of runs and deliveries cancelled. */
  readonly drain: (timeoutMs: number) => Promise<{ readonly abandoned: number }>;
  /** Called with each table before it is served; rejects with TableError to refuse it. Returns a function to call at the swap. */
  readonly prepare?: (table: RouteTable) => Promise<() => void> | (() => void);
  /**
   * Reads the current values of these references, without blocking; called for each table and each list of subscriptions.
   * @param host the host on which the server listens
   */
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver> | SecretResolver;
  /** Accepts the secret that a source sends in its handshake. */
  readonly capture?: (plan: RoutePlan) => CaptureSecret;
  readonly lowerSubscriptions: LowerSubscriptions;
  readonly run: RunProcess;
  readonly files: GatewayFiles;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sheds load; default: as intake/overload.ts measures it. */
  readonly overload?: Services['overload'];
  /** Counts for metrics. */
  readonly onRequest?: CountRequest;
  readonly onTableLoad?: (ok: boolean) => void;
  /** See HandlerContext; default: no path is pending. */
  readonly isPending?: (path: string) => boolean;
  /** Keeps requests; default: keeps none. */
  readonly keeping?: Pick<Keeping, 'keep' | 'prepare'>;
}

export interface ServingStatus {
  /** Null before `listen` and after `stop`. */
  readonly url: string | null;
  readonly state: 'serving' | 'draining';
  readonly table: TableState & { readonly routes: number };
  readonly subscriptions: {
    readonly serving: number;
    readonly quarantined: readonly Rejected[];
    readonly error: string | null;
  };
}

export interface Gateway {
  /** Loads and links the table. Rejects with TableError listing everything that prevents serving it. */
  load(): Promise<RouteTable>;
  /**
   * Starts to serve the loaded table, at this address instead of the table's. Rejects with ListenError when the address
   * cannot be bound, with TableError when a route must not be served there.
   */
  listen(at?: Partial<ListenAddress>): Promise<ListenAddress & { readonly url: string }>;
  /** Answers a request that did not come over the listener; see intake/fetch-request.ts. */
  handle(request: Request, from?: RequestOrigin): Promise<Response>;
  /**
   * Loads a changed table now; with `relink` also an unchanged one, with the current secrets. False when the table in
   * service is still the old one.
   */
  reload(relink?: boolean): Promise<boolean>;
  /**
   * Stops: from now on events are answered with 503, requests under way are finished, waiting work is flushed and drained
   * for at most `drainSeconds` (default: the table's), then the server closes.
   */
  stop(drainSeconds?: number): Promise<{ readonly drained: boolean; readonly abandoned: number }>;
  status(): ServingStatus;
}
