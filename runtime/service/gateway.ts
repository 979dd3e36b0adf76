/** The gateway: the public server for the routes in service, with its start and stop. Its `Backend` is passed to it. */

import { DEFAULT_PROFILE } from '../../base/names.ts';
import { schemeLabel } from '../../base/text.ts';
import type { KeptRequest, ReplayReport, StopResult } from '../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Approvals } from '../dispatch/context.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { FindInstallation } from '../dispatch/own-message.ts';
import type { EmitOptions, Emitted } from '../intake/emit.ts';
import { emittedEvent, prepareEvent } from '../intake/emit.ts';
import type { CountRequest } from '../intake/event-log.ts';
import { EventLog } from '../intake/event-log.ts';
import type { RequestOrigin } from '../intake/fetch-request.ts';
import { answerFetch } from '../intake/fetch-request.ts';
import { RequestHandler } from '../intake/handler.ts';
import type { RequestTracing, Services, Statuses } from '../intake/intake.ts';
import type { CaptureStore } from '../intake/keeper.ts';
import type { NodeListener } from '../intake/node-request.ts';
import { answerNode } from '../intake/node-request.ts';
import { monitorLoop, Overload } from '../intake/overload.ts';
import { createScriptRunner } from '../intake/script-runner.ts';
import type { HandleRequest, ListenAddress, ServerLimits } from '../intake/server.ts';
import { BoundedServer, Connections, SERVER_LIMITS, urlOf } from '../intake/server.ts';
import { UnverifiedBodies } from '../intake/unverified-bodies.ts';
import type { Clock } from '../platform/clock.ts';
import { settledWithin } from '../platform/clock.ts';
import type { Lazy } from '../platform/lazy.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import { routePaths } from '../table/link-context.ts';
import type { OwnLogin } from '../table/link-loop.ts';
import { withoutRandomPart } from '../verify/handshake.ts';
import type { ServiceContext } from './context.ts';
import type { Routes, RoutesUser } from './routes.ts';

/** Maximum time for responses after everything is drained, in ms. */
const CLOSE_MS = 1000;
/** Minimum time that a stop waits for requests in the stages, in ms. */
const IDLE_MS = 1000;

/** Dependencies of the HTTP layer. */
export interface Backend extends RoutesUser {
  readonly dispatcher: Dispatcher;
  /** Null: tracing is off. */
  readonly tracing: RequestTracing | null;
  readonly installation: FindInstallation;
  readonly ownLogin?: OwnLogin;
  /** Counts an answered request. */
  readonly requested?: CountRequest;
  /** `opened`: null or absent until a route needs it. */
  readonly statuses?: Pick<Lazy<Statuses>, 'opened'>;
  readonly approving?: Pick<Lazy<Approvals>, 'opened'>;
  /** True if other gateways may serve a path that has no route here. */
  isPending(path: string): boolean;
  /** Flushes and finishes work within `timeoutMs`; resolves to the number of runs and deliveries cancelled. */
  stop(timeoutMs: number): Promise<{ readonly abandoned: number }>;
  /** True if the store has ended, which was logged. Default: false. */
  readonly hasFailed?: boolean;
}

/** For tests: replace the gateway's limits and timeouts. */
export interface GatewayLimits extends Partial<ServerLimits> {
  readonly overload?: Services['overload'];
}

export class Gateway {
  private readonly context: ServiceContext;
  private readonly routes: Routes;
  private readonly backend: Backend;
  private readonly limits: GatewayLimits;
  private readonly giveUp = new AbortController();
  /** The memory for the bodies of strangers, on both servers. */
  readonly bodies: UnverifiedBodies;
  private readonly connections: Connections;
  /** Connections of the console: as many again, so that requests to one server never close connections of the other. */
  readonly consoleConnections: Connections;
  private readonly services: Services;
  private readonly handler: RequestHandler;
  private readonly answer: HandleRequest = (request, response) => this.handler.handle(request, response);
  private server: BoundedServer | null = null;
  private stopping: Promise<StopResult> | null = null;

  /** @param routes loaded routes */
  constructor(context: ServiceContext, routes: Routes, backend: Backend, limits: GatewayLimits = {}) {
    this.context = context;
    this.routes = routes;
    this.backend = backend;
    this.limits = limits;
    const onDrop = createDropWarner(context);
    this.consoleConnections = new Connections({ onDrop });
    this.connections = new Connections({
      onDrop,
      onUnknownProxy: createProxyWarner(context),
    });
    const { connections, consoleConnections } = this;
    this.bodies = new UnverifiedBodies(context.clock, () =>
      Math.max(connections.fullness, consoleConnections.fullness),
    );
    this.services = this.createServices();
    this.handler = this.createHandler();
  }

  /** Loads the subscriptions; from now on later tables are loaded too. */
  begin(): Promise<void> {
    return this.routes.begin(this.backend, () => this.configure(this.routes.plan));
  }

  /** See Service. */
  async listen(at: Partial<ListenAddress> = {}): Promise<ListenAddress & { readonly url: string }> {
    const { routes } = this;
    await routes.use(at);
    const configured = routes.addressFor(routes.plan.server);
    const server = new BoundedServer(this.answer, { ...SERVER_LIMITS, ...this.limits }, this.connections);
    const bound = await server.listen(configured.host, configured.port);
    this.server = server;
    routes.listens({ configured, bound });
    return { host: bound.address, port: bound.port, url: urlOf(bound) };
  }

  /** See Service. */
  handle(request: Request, from: RequestOrigin = {}): Promise<Response> {
    return answerFetch(this.answer, request, from);
  }

  /** See Service. */
  readonly node: NodeListener = (request, response, next) =>
    answerNode(this.answer, { request, response, next, log: this.context.log });

  /** See Service. */
  async emit(name: string, payload: unknown, options: EmitOptions = {}): Promise<Emitted> {
    const { tables } = this.routes;
    await tables.refresh();
    await tables.loading;
    const { profile = DEFAULT_PROFILE } = options;
    const route = routePaths({ name, profile }, true)
      .map((path) => tables.find(path))
      .find((found) => found !== undefined);
    if (route === undefined) throw new TypeError(`emit: unknown route "${name}" in profile "${profile}"`);
    const event = prepareEvent(route, payload, options, this.services);
    return emittedEvent(event.intake, (await this.handler.send(event, null)).reply);
  }

  /** Sends a captured request through the stages again; null if its path no longer has a route. */
  async replay(captured: KeptRequest, keeper: CaptureStore, by: string | undefined): Promise<ReplayReport | null> {
    await this.routes.tables.refresh();
    const [path = ''] = captured.path.split('?', 1);
    const route = this.routes.tables.find(path);
    if (route === undefined) return null;
    const staged = keeper.replay(captured, route, this.services);
    staged.intake.request.by = by;
    const { reply, kept: id } = await this.handler.send(staged, captured.id);
    return { id, status: reply.status, outcome: reply.outcome, answer: reply.body };
  }

  /**
   * Stops: from now on events get 503, current requests are finished, waiting work is flushed and drained for at most
   * `drainSeconds` (default: the table's), then the server closes.
   */
  stop(drainSeconds = this.routes.plan.gateway.drain_seconds): Promise<StopResult> {
    this.stopping ??= this.drainAndClose(drainSeconds);
    return this.stopping;
  }

  /** Sets the limits for connections and unverified bodies. */
  private configure({ server: plan }: RouteTable): void {
    for (const connections of [this.connections, this.consoleConnections]) {
      connections.configure({
        maxConnections: plan.max_connections,
        maxPerAddress: plan.max_connections_per_address,
        trustedProxies: plan.trusted_proxies,
      });
    }
    this.bodies.limits = { maxUnverifiedBytes: plan.max_unverified_bytes, minBodyRate: plan.min_body_rate };
  }

  private async drainAndClose(drainSeconds: number): Promise<StopResult> {
    const { clock } = this.context;
    // The failure of the store is the one line.
    const log = this.backend.hasFailed === true ? null : this.context.log;
    const deadline = clock.monotonic() + drainSeconds * 1000;
    // A sender that retries after the drain reaches the next server.
    this.routes.shutdown.retryAfterSeconds = Math.max(1, Math.ceil(drainSeconds));
    log?.info({ drain_seconds: drainSeconds }, 'stopping');
    this.routes.tables.stop();
    this.backend.statuses?.opened?.release();
    await settledWithin(clock, Math.max(IDLE_MS, deadline - clock.monotonic()), this.handler.idle());
    const { abandoned } = await this.backend.stop(Math.max(0, deadline - clock.monotonic()));
    this.giveUp.abort();
    await settledWithin(clock, CLOSE_MS, this.server?.close() ?? Promise.resolve());
    this.server?.abort();
    this.routes.listening = null;
    log?.info({ abandoned }, 'stopped');
    return { drained: abandoned === 0, abandoned };
  }

  private createHandler(): RequestHandler {
    const { documents, clock, log, metrics } = this.context;
    const { backend } = this;
    const { tables } = this.routes;
    return new RequestHandler({
      services: this.services,
      events: new EventLog({
        log,
        clock,
        nearestRoute: (path) => tables.nearest(path),
        count: (finished) => {
          metrics.onRequest(finished);
          backend.requested?.(finished);
        },
      }),
      keep: backend.keeping.keep,
      keepMiss: backend.keeping.keepMiss,
      refresh: () => tables.refresh(),
      findRoute: (path) => tables.find(path),
      loading: () => tables.loading,
      isPending: (path) => backend.isPending(withoutRandomPart(path) ?? path),
      connections: this.connections,
      documents,
      status: async (request, path) => backend.statuses?.opened?.find(request, path, (at) => tables.find(at)) ?? null,
    });
  }

  private createOverload(): Overload {
    const { clock, log } = this.context;
    const measureLoop = monitorLoop(this.giveUp.signal);
    return new Overload({ clock, log, measureLoop, accepted: () => this.connections.accepted });
  }

  private createServices(): Services {
    const { clock, log, ids, files, env, home, confinement } = this.context;
    const { realPath, describe } = files;
    const { signal } = this.giveUp;
    const run: RunProcess = (request) => confinement.confine(this.routes.plan.gateway.sandbox ?? null)(request);
    return {
      clock,
      log,
      ids,
      dispatcher: this.backend.dispatcher,
      installation: this.backend.installation,
      ...(this.backend.ownLogin === undefined ? {} : { ownLogin: this.backend.ownLogin }),
      runScript: createScriptRunner({ run, realPath, describe, env, home, signal }),
      shutdown: this.routes.shutdown,
      overload: this.limits.overload ?? this.createOverload(),
      bodies: this.bodies,
      connections: this.connections,
      warnDeprecated: createDeprecationWarner(log),
      tracing: this.backend.tracing,
      statuses: () => this.backend.statuses?.opened ?? null,
      approvals: () => this.backend.approving?.opened ?? null,
    };
  }
}

/** Warns once for each route and scheme that the scheme is deprecated (§9.1). */
function createDeprecationWarner(log: Logger): Services['warnDeprecated'] {
  const warned = new Set<string>();
  return ({ plan, deprecated }, scheme) => {
    const reason = deprecated.get(scheme);
    const key = `${plan.profile}/${plan.name}/${scheme}`;
    if (reason === undefined || warned.has(key)) return;
    warned.add(key);
    log.warn({ route: plan.name, scheme: schemeLabel(plan, scheme), reason }, 'deprecated signature scheme');
  };
}

/** Minimum time between two warnings about connections, in ms. */
const DROP_QUIET_MS = 60_000;

/** Warns at most once a minute that connections are closed because there are too many. */
function createDropWarner({ log, clock }: { readonly log: Logger; readonly clock: Clock }): () => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now < quietUntil) return;
    quietUntil = now + DROP_QUIET_MS;
    log.warn(
      {},
      'too many connections: closing the longest idle or unverified ones (max_connections, max_connections_per_address)',
    );
  };
}

/** Warns once that a proxy on this machine hides the clients, because it is not in `trusted_proxies`. */
function createProxyWarner({ log }: { readonly log: Logger }): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    log.warn(
      {},
      'a proxy on this machine sends X-Forwarded-For, but trusted_proxies is empty: all clients count as one',
    );
  };
}
