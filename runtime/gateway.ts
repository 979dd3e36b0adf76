/**
 * The gateway: the table in service, the public server in front of it, and their start and stop, for the command line
 * and for programs that embed the runtime. The work behind it comes in as a Dispatcher.
 */
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { RouteTable, SecretRef, ServerPlan } from '../schemas/generated/types.ts';
import type { Timer } from './clock.ts';
import type { Gateway, GatewayOptions, ServingStatus } from './gateway-options.ts';
import { Connections } from './intake/connections.ts';
import { Documents } from './intake/documents.ts';
import { EventLog } from './intake/event-log.ts';
import { RequestHandler } from './intake/handler.ts';
import type { Services, Shutdown } from './intake/intake.ts';
import { askHealth, Overload } from './intake/overload.ts';
import { RateWindows } from './intake/rate-limit.ts';
import { createScriptRunner } from './intake/script-runner.ts';
import type { HandleRequest } from './intake/server.ts';
import { IntakeServer, SERVER_LIMITS } from './intake/server.ts';
import { UnverifiedBodies } from './intake/unverified-bodies.ts';
import type { Logger } from './log.ts';
import { isLoopback } from './loopback.ts';
import { routeSecretRefs, tableSecretRefs } from './secret-refs.ts';
import { createListOpener } from './table/in-file-set.ts';
import { linkSubscriptions, linkTable } from './table/link.ts';
import type { LinkContext } from './table/link-context.ts';
import { identityLinker } from './table/link-identity.ts';
import { Subscriptions } from './table/subscriptions.ts';
import { Tables } from './table/tables.ts';
import { schemeLinker } from './verify/scheme.ts';

/** How long answers may take to leave once everything is drained, in ms. */
const CLOSE_MS = 1000;
const DROP_QUIET_MS = 60_000;
/** A stop waits at least so long, in ms, for events that are on their way through the stages. */
const IDLE_MS = 1000;

export function createGateway(options: GatewayOptions): Gateway {
  return new RunningGateway(options);
}

class RunningGateway implements Gateway {
  private readonly options: GatewayOptions;
  private readonly shutdown: Shutdown = { retryAfterSeconds: null };
  private readonly giveUp = new AbortController();
  private readonly windows = new RateWindows();
  private readonly bodies: UnverifiedBodies;
  private readonly connections: Connections;
  private readonly subscriptions: Subscriptions;
  private readonly tables: Tables;
  private readonly handler: RequestHandler;
  private server: IntakeServer | null = null;
  /** What the server listens on; a later table does not move it. */
  private bound: { readonly host: string; readonly port: number } | null = null;
  /** Where it listens. */
  private address: AddressInfo | null = null;
  private url: string | null = null;
  private stopping: Promise<{ drained: boolean; abandoned: number }> | null = null;

  constructor(options: GatewayOptions) {
    this.options = options;
    this.bodies = new UnverifiedBodies(options.clock);
    this.connections = new Connections(createDropWarner(options));
    this.subscriptions = this.createSubscriptions();
    this.tables = this.createTables();
    this.handler = this.createHandler();
  }

  async load(): Promise<RouteTable> {
    return (await this.tables.start()).plan;
  }

  async listen(): Promise<{ host: string; port: number; url: string }> {
    const { server: plan } = this.tables.serving.plan;
    const bound = this.addressFor(plan);
    const limits = { ...SERVER_LIMITS, ...this.options.limits };
    this.configure(plan);
    const handle: HandleRequest = (request, response) => this.handler.handle(request, response);
    const server = new IntakeServer(handle, limits, this.connections);
    this.address = await server.listen(bound.host, bound.port);
    const { address, port, family } = this.address;
    this.server = server;
    this.bound = bound;
    this.url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    return { host: address, port, url: this.url };
  }

  reload(relink = false): Promise<boolean> {
    return this.tables.reload(relink);
  }

  stop(drainSeconds?: number): Promise<{ drained: boolean; abandoned: number }> {
    this.stopping ??= this.drainAndClose(drainSeconds ?? this.tables.serving.plan.gateway.drain_seconds);
    return this.stopping;
  }

  status(): ServingStatus {
    const { routes, rejected, error } = this.subscriptions;
    return {
      url: this.url,
      state: this.shutdown.retryAfterSeconds === null ? 'serving' : 'draining',
      table: { ...this.tables.status, routes: Object.keys(this.tables.serving.plan.routes).length },
      subscriptions: { serving: new Set(routes.values()).size, quarantined: rejected, error },
    };
  }

  /** What strangers may have of this server. */
  private configure(plan: ServerPlan): void {
    this.connections.configure({
      maxConnections: plan.max_connections,
      maxPerAddress: plan.max_connections_per_address,
      trustedProxies: plan.trusted_proxies,
    });
    this.bodies.limits = { maxUnverifiedBytes: plan.max_unverified_bytes, minBodyRate: plan.min_body_rate };
  }

  private addressFor(plan: ServerPlan): { host: string; port: number } {
    return { host: this.options.host ?? plan.host, port: this.options.port ?? plan.port };
  }

  private async drainAndClose(drainSeconds: number): Promise<{ drained: boolean; abandoned: number }> {
    const { clock, drain, log } = this.options;
    const deadline = clock.monotonic() + drainSeconds * 1000;
    // A sender that comes back when the drain has ended finds the next server.
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

  private createSubscriptions(): Subscriptions {
    const { home, files, lowerSubscriptions, clock, log } = this.options;
    return new Subscriptions({
      path: join(home, 'webhook_subscriptions.json'),
      stat: files.stat,
      read: files.readText,
      lower: lowerSubscriptions,
      link: async (table, plans) => {
        const context = await this.linkContext(table, plans.flatMap(routeSecretRefs));
        return (some) => linkSubscriptions(some, table, context);
      },
      clock,
      log,
    });
  }

  private createTables(): Tables {
    const { table: path, files, prepare, clock, log, onTableLoad } = this.options;
    return new Tables({
      path,
      stat: files.stat,
      read: files.read,
      watch: files.watch,
      link: async (table, breather) =>
        linkTable(table, await this.linkContext(table, tableSecretRefs(table)), breather),
      prepare: async (table) => {
        const apply = await prepare?.(table);
        return () => this.swapped(apply);
      },
      subscriptions: this.subscriptions,
      clock,
      log,
      onLoad: onTableLoad ?? (() => {}),
    });
  }

  private swapped(apply: (() => void) | undefined): void {
    apply?.();
    const slots = [...this.tables.serving.routes.values(), ...this.subscriptions.routes.values()];
    const live = slots.filter(({ isLinked }) => isLinked).map(({ linked }) => linked.window);
    this.windows.retain(new Set(live), this.options.clock.monotonic());
    this.configure(this.tables.serving.plan.server);
    const wanted = this.addressFor(this.tables.serving.plan.server);
    if (this.bound !== null && (wanted.host !== this.bound.host || wanted.port !== this.bound.port)) {
      this.options.log.warn({ ...wanted, serving: this.bound }, 'host and port change with the next start');
    }
  }

  /** Everything a link resolves, it resolves anew: secrets and lists as they are now. */
  private async linkContext(table: RouteTable, refs: readonly SecretRef[]): Promise<LinkContext> {
    const { home, userHome, secrets, capture, files, clock, log } = this.options;
    const { host } = this.bound ?? this.addressFor(table.server);
    const listFiles = {
      stat: (path: string) => {
        const found = files.stat(path);
        if (found === undefined) throw new Error(`${path} is missing`);
        return found;
      },
      read: files.readText,
    };
    return {
      home,
      secrets: await secrets(refs, host),
      windows: this.windows,
      linkScheme: schemeLinker(),
      linkIdentity: identityLinker(table),
      openList: createListOpener({ home, userHome, files: listFiles, clock, log }),
      loopback: isLoopback(host),
      capture: capture ?? null,
    };
  }

  private createHandler(): RequestHandler {
    const { table, files, clock, log, onRequest } = this.options;
    return new RequestHandler({
      services: this.createServices(),
      events: new EventLog(log, clock, onRequest ?? (() => {})),
      refresh: () => this.tables.refresh(),
      findRoute: (path) => this.tables.find(path),
      loading: () => this.tables.loading,
      connections: this.connections,
      documents: new Documents({
        path: join(dirname(table), 'blueprints.json'),
        stat: files.stat,
        read: files.readText,
        clock,
        log,
      }),
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

/** Says once per route and scheme that the sender should move on (§9.1). */
function createDeprecationWarner(log: Logger): Services['warnDeprecated'] {
  const told = new Set<string>();
  return ({ plan, deprecated }, scheme) => {
    const reason = deprecated.get(scheme);
    const key = `${plan.profile}/${plan.name}/${scheme}`;
    if (reason === undefined || told.has(key)) return;
    told.add(key);
    log.warn({ route: plan.name, scheme, reason }, 'deprecated signature scheme');
  };
}

/** Says at most once a minute that connections are turned away. */
function createDropWarner({ log, clock }: GatewayOptions): () => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now < quietUntil) return;
    quietUntil = now + DROP_QUIET_MS;
    log.warn(
      {},
      'too many connections: the oldest idle ones are closed (max_connections, max_connections_per_address)',
    );
  };
}
