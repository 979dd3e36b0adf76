/**
 * The gateway: the public server for the table in service, with its start and stop. The work behind it is passed as a
 * Dispatcher; `service.ts` assembles both.
 */
import type { AddressInfo } from 'node:net';
import type { RouteTable, ServerPlan } from '../schemas/generated/types.ts';
import type { ReplayReport } from './control/operations.ts';
import type { Gateway, GatewayOptions, ListenAddress, ServingStatus } from './gateway-options.ts';
import { GatewayTables } from './gateway-tables.ts';
import { createDeprecationWarner, createDropWarner } from './gateway-warnings.ts';
import { Connections } from './intake/connections.ts';
import { Documents } from './intake/documents.ts';
import { EventLog } from './intake/event-log.ts';
import type { RequestOrigin } from './intake/fetch-request.ts';
import { answerFetch } from './intake/fetch-request.ts';
import { RequestHandler } from './intake/handler.ts';
import type { Services, Shutdown } from './intake/intake.ts';
import type { Keeper } from './intake/keeper.ts';
import type { KeptRequest } from './intake/kept-request.ts';
import { askHealth, Overload } from './intake/overload.ts';
import { createScriptRunner } from './intake/script-runner.ts';
import type { HandleRequest } from './intake/server.ts';
import { IntakeServer, SERVER_LIMITS, urlOf } from './intake/server.ts';
import { UnverifiedBodies } from './intake/unverified-bodies.ts';
import type { Timer } from './platform/clock.ts';

/** How long responses may take after everything is drained, in ms. */
const CLOSE_MS = 1000;
/** Least time that a stop waits for requests in the stages, in ms. */
const IDLE_MS = 1000;

/** Opens nothing yet: `load` reads the table, `listen` opens the port. */
export function createGateway(options: GatewayOptions): Gateway {
  return new RunningGateway(new GatewayTables(options), options);
}

export class RunningGateway implements Gateway {
  private readonly options: GatewayOptions;
  private readonly shutdown: Shutdown = { retryAfterSeconds: null };
  private readonly giveUp = new AbortController();
  private readonly bodies: UnverifiedBodies;
  private readonly connections: Connections;
  private readonly tables: GatewayTables;
  private readonly handler: RequestHandler;
  private readonly services: Services;
  private readonly answer: HandleRequest = (request, response) => this.handler.handle(request, response);
  private server: IntakeServer | null = null;
  /** The address on which it listens. */
  private address: AddressInfo | null = null;
  private url: string | null = null;
  private stopping: Promise<{ drained: boolean; abandoned: number }> | null = null;

  constructor(tables: GatewayTables, options: GatewayOptions) {
    this.options = options;
    this.bodies = new UnverifiedBodies(options.clock);
    this.connections = new Connections(createDropWarner(options));
    this.tables = tables;
    this.services = this.createServices();
    this.handler = this.createHandler();
  }

  async load(): Promise<RouteTable> {
    const table = await this.tables.load();
    const apply = await this.options.prepare?.(table);
    apply?.();
    await this.begin();
    return table;
  }

  /** Loads the subscriptions and later tables; call it once the first table is loaded. */
  begin(): Promise<void> {
    const { prepare } = this.options;
    return this.tables.begin({
      prepare: async (table) => (await prepare?.(table)) ?? (() => {}),
      swapped: () => this.configure(this.tables.plan.server),
    });
  }

  async listen(at: Partial<ListenAddress> = {}): Promise<ListenAddress & { readonly url: string }> {
    await this.tables.use(at);
    const { server: plan } = this.tables.plan;
    const wanted = this.tables.addressFor(plan);
    const server = new IntakeServer(this.answer, { ...SERVER_LIMITS, ...this.options.limits }, this.connections);
    this.address = await server.listen(wanted.host, wanted.port);
    this.server = server;
    this.tables.bound = wanted;
    this.url = urlOf(this.address);
    this.tables.listening = { host: wanted.host, port: this.address.port };
    return { host: this.address.address, port: this.address.port, url: this.url };
  }

  handle(request: Request, from: RequestOrigin = {}): Promise<Response> {
    return answerFetch(this.answer, request, from);
  }

  /** Sends a kept request through the stages again; null when there is no longer a route at its path. */
  async replay(kept: KeptRequest, keeper: Keeper): Promise<ReplayReport | null> {
    await this.tables.refresh();
    const [path = ''] = kept.path.split('?', 1);
    const route = this.tables.find(path);
    if (route === undefined) return null;
    const { reply, kept: id } = await this.handler.replay(keeper.replay(kept, route, this.services), kept.id);
    return { id, status: reply.status, outcome: reply.outcome, answer: reply.body };
  }

  reload(relink = false): Promise<boolean> {
    return this.tables.reload(relink);
  }

  stop(drainSeconds?: number): Promise<{ drained: boolean; abandoned: number }> {
    this.stopping ??= this.drainAndClose(drainSeconds ?? this.tables.plan.gateway.drain_seconds);
    return this.stopping;
  }

  status(): ServingStatus {
    const { routes, rejected, error } = this.tables.subscriptions;
    return {
      url: this.url,
      state: this.shutdown.retryAfterSeconds === null ? 'serving' : 'draining',
      table: { ...this.tables.state, routes: Object.keys(this.tables.plan.routes).length },
      subscriptions: { serving: new Set(routes.values()).size, quarantined: rejected, error },
    };
  }

  /** Sets the limits for connections and unverified bodies. */
  private configure(plan: ServerPlan): void {
    this.connections.configure({
      maxConnections: plan.max_connections,
      maxPerAddress: plan.max_connections_per_address,
      trustedProxies: plan.trusted_proxies,
    });
    this.bodies.limits = { maxUnverifiedBytes: plan.max_unverified_bytes, minBodyRate: plan.min_body_rate };
  }

  private async drainAndClose(drainSeconds: number): Promise<{ drained: boolean; abandoned: number }> {
    const { clock, drain, log } = this.options;
    const deadline = clock.monotonic() + drainSeconds * 1000;
    // A sender that retries after the drain reaches the next server.
    this.shutdown.retryAfterSeconds = Math.max(1, Math.ceil(drainSeconds));
    log.info({ drain_seconds: drainSeconds }, 'stopping');
    this.tables.stop();
    await this.within(this.handler.idle(), Math.max(IDLE_MS, deadline - clock.monotonic()));
    const { abandoned } = await drain(Math.max(0, deadline - clock.monotonic()));
    this.giveUp.abort();
    await this.within(this.server?.close() ?? Promise.resolve(), CLOSE_MS);
    this.server?.abort();
    this.address = null;
    this.url = null;
    log.info({ abandoned }, 'stopped');
    return { drained: abandoned === 0, abandoned };
  }

  /** Waits for work, but no longer than `ms`. */
  private async within(work: Promise<void>, ms: number): Promise<void> {
    let timer: Timer | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = this.options.clock.after(ms, resolve);
    });
    await Promise.race([work, timeout]);
    timer?.cancel();
  }

  private createHandler(): RequestHandler {
    const { catalog, clock, log, onRequest, keeping, isPending } = this.options;
    return new RequestHandler({
      services: this.services,
      events: new EventLog(log, clock, onRequest ?? (() => {})),
      keep: keeping?.keep ?? (() => null),
      refresh: () => this.tables.refresh(),
      findRoute: (path) => this.tables.find(path),
      loading: () => this.tables.loading,
      isPending: isPending ?? (() => false),
      connections: this.connections,
      documents: new Documents({ source: catalog, log }),
    });
  }

  private askHealth(): Promise<void> | null {
    return this.address === null ? null : askHealth(this.address);
  }

  private createServices(): Services {
    const { clock, log, ids, dispatcher, run, files, env, home } = this.options;
    const { realPath, describe } = files;
    return {
      clock,
      log,
      ids,
      dispatcher,
      runScript: createScriptRunner({ run, realPath, describe, env, home, signal: this.giveUp.signal }),
      shutdown: this.shutdown,
      overload: this.options.overload ?? new Overload({ clock, log, ask: () => this.askHealth() }),
      bodies: this.bodies,
      warnDeprecated: createDeprecationWarner(log),
    };
  }
}
