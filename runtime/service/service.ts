/** A service, as programs that embed the runtime see it. */
import type { EnrollReport, ReplayReport, StopResult } from '../../schemas/built/operations/types.ts';
import type { Catalog, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { DispatchOwner } from '../dispatch/observer.ts';
import type { RequestOrigin } from '../intake/fetch-request.ts';
import type { Keeper } from '../intake/keeper.ts';
import type { ListenAddress } from '../intake/server.ts';
import type { JobRecord } from '../store/job-mutations.ts';
import type { FinalState } from '../store/states.ts';
import type { Store } from '../store/store.ts';
import type { FindPlace } from '../table/held-place.ts';
import type { Rejected } from '../table/subscriptions.ts';
import type { TableState } from '../table/tables.ts';
import type { ServiceStatus } from './status.ts';

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
  /** `done`, `dead` (given up) or `skipped` (nothing to deliver, superseded, or rejected by a person). Final. */
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
  /** The service has ended by itself: what is stored goes on when a service is created anew. */
  failed: { readonly reason: string };
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
  /** Where a target sends now. */
  readonly place: FindPlace;
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
   * the next start. Rejects with TypeError for what is no number of ms
   */
  stop(options?: { readonly drainMs?: number }): Promise<StopResult>;
}
