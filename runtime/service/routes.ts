/**
 * The routes in service: the table and its subscriptions, the context of their links, and the address on which they are
 * served, because a route without a signature is served only on a loopback address.
 *
 *     loadFirst ── links the first table, which names the store ──> begin ── subscriptions, later tables
 */
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isLoopback, isWildcard, listenUrl } from '../../base/net.ts';
import type { GatewayPlan, RoutePlan, RouteTable, SecretRef, ServerPlan } from '../../schemas/generated/types.ts';
import type { ServingStatus } from '../console/status.ts';
import { missingSecrets } from '../deliver/missing-secrets.ts';
import { functionFor } from '../dispatch/agents/create-agents.ts';
import type { Shutdown } from '../intake/intake.ts';
import type { RequestCapture } from '../intake/keeper.ts';
import type { ListenAddress } from '../intake/server.ts';
import { urlOf } from '../intake/server.ts';
import { loadMarks } from '../module.ts';
import { routeSecretRefs, tableSecretRefs } from '../platform/secrets.ts';
import type { Store } from '../store/contract.ts';
import type { JobRecord } from '../store/records.ts';
import type { FindDestination } from '../table/held-place.ts';
import { createListOpener } from '../table/in-file-set.ts';
import { linkRoutes, linkTable } from '../table/link.ts';
import type { LinkContext } from '../table/link-context.ts';
import { identityLinker } from '../table/link-identity.ts';
import { consoleTokens, linkPeople } from '../table/link-people.ts';
import { RateWindows } from '../table/rate-limit.ts';
import { LiveSubscriptions } from '../table/subscriptions.ts';
import { TableError } from '../table/table-source.ts';
import { Tables } from '../table/tables.ts';
import { schemeLinker } from '../verify/scheme.ts';
import type { ServiceContext } from './context.ts';

interface Listening {
  /** The configured address; a later table does not change it. */
  readonly configured: ListenAddress;
  /** The bound address, with the actual port if 0 is configured. */
  readonly bound: AddressInfo;
}

/** Work that depends on the routes, and changes with them. */
export interface RoutesUser {
  readonly store: Pick<Store, 'shared'>;
  readonly keeping: Pick<RequestCapture, 'keep' | 'keepMiss'>;
  readonly place: FindDestination;
  /** Jobs created at run time, which a subscription may name. */
  jobs(): readonly JobRecord[];
  /** Called before these subscriptions replace the previous ones. */
  subscribed(plans: readonly RoutePlan[]): Promise<void>;
  /**
   * Called with each later table before it is served; rejects with TableError to reject it. Returns a function to call at the
   * swap.
   */
  prepare(table: RouteTable): Promise<() => void>;
}

/** Used until there is a store. */
const NO_USER: RoutesUser = {
  store: { shared: null },
  keeping: { keep: () => null, keepMiss: () => {} },
  place: () => null,
  jobs: () => [],
  subscribed: async () => {},
  prepare: async () => () => {},
};

export class Routes {
  /** Null before the server listens, and after it has stopped. */
  listening: Listening | null = null;
  readonly shutdown: Shutdown = { retryAfterSeconds: null };
  readonly tables: Tables;
  readonly subscriptions: LiveSubscriptions;
  /** Resolves when the copy of the table in service is written. */
  copied = Promise.resolve();
  private readonly context: ServiceContext;
  private readonly windows = new RateWindows();
  private user = NO_USER;
  private onSwap: () => void = () => {};
  /** The plan of the first table. */
  private first: GatewayPlan | null = null;
  private overrides: Pick<ServiceContext, 'host' | 'port'>;

  constructor(context: ServiceContext) {
    this.context = context;
    this.overrides = context;
    this.subscriptions = this.createSubscriptions();
    this.tables = this.createTables();
  }

  /** Loads the subscriptions; from now on later tables are loaded too. @param onSwap called after each swap */
  begin(user: RoutesUser, onSwap: () => void): Promise<void> {
    const { shared } = user.store;
    if (shared !== null) this.windows.use((name) => shared.window(name));
    this.user = user;
    this.onSwap = onSwap;
    this.swapped(() => {});
    return this.tables.begin();
  }

  get plan(): RouteTable {
    return this.tables.serving.plan;
  }

  status(): ServingStatus {
    const { subscriptions, tables, plan, listening, shutdown } = this;
    return {
      url: listening === null ? null : urlOf(listening.bound),
      state: shutdown.retryAfterSeconds === null ? 'serving' : 'draining',
      table: { ...tables.status, routes: Object.keys(plan.routes).length },
      subscriptions: {
        serving: new Set(subscriptions.routes.values()).size,
        quarantined: subscriptions.rejected,
        error: subscriptions.error,
      },
      rate_limited: this.windows.refusing(this.context.clock.now()),
    };
  }

  /** The URL of this gateway for operators of other gateways, with the host's name instead of a wildcard address. */
  operatorUrl(): string {
    const { host, port } = this.listening?.configured ?? this.addressFor(this.plan.server);
    return listenUrl(isWildcard(host) ? hostname() : host, this.listening?.bound.port ?? port);
  }

  /** The address of a table, with the overrides of the options. */
  addressFor({ host, port }: ServerPlan): ListenAddress {
    return { host: this.overrides.host ?? host, port: this.overrides.port ?? port };
  }

  /**
   * Overrides the address. Routes without a signature are served only on a loopback address, so the table is linked again when
   * that changes. Rejects with TableError if a route must not be served there.
   */
  async use({ host, port }: Partial<ListenAddress>): Promise<void> {
    const before = this.addressFor(this.plan.server);
    const last = this.overrides;
    this.overrides = { host: host ?? last.host, port: port ?? last.port };
    if (isLoopback(before.host) === isLoopback(this.addressFor(this.plan.server).host)) return;
    if (await this.tables.reload(true)) return;
    this.overrides = last;
    throw new TableError(this.tables.status.error ?? 'could not link the table again');
  }

  private createSubscriptions(): LiveSubscriptions {
    const { home, files, lowerSubscriptions, clock, log } = this.context;
    return new LiveSubscriptions({
      path: join(home, 'webhook_subscriptions.json'),
      stat: files.stat,
      read: files.readText,
      lower: (text, table) => lowerSubscriptions(text, table, this.user.jobs()),
      link: async (table, plans) => {
        await this.user.subscribed(plans);
        const context = await this.linkContext(table, plans, plans.flatMap(routeSecretRefs));
        return linkRoutes(plans, table, context);
      },
      clock,
      log,
    });
  }

  private createTables(): Tables {
    const { source, clock, log, metrics } = this.context;
    return new Tables({
      source,
      link: async (table) => {
        const context = await this.linkContext(table, Object.values(table.routes), tableSecretRefs(table));
        const isReplaced = (name: string | null): boolean => functionFor(this.context.functions, name) !== null;
        const problems = [...missingSecrets(table, context.secrets, isReplaced)];
        const { console } = table.gateway;
        const refs = consoleTokens(console).map(({ ref }) => ref);
        // Its own address decides which values are secrets.
        const secrets = console === null ? context.secrets : await this.context.secrets(refs, console.host);
        const people = linkPeople(console, secrets, problems);
        return linkTable(table, context, [...new Set(problems)], people);
      },
      prepare: async (table) => {
        const apply = await this.user.prepare(table);
        return () => this.swapped(apply);
      },
      subscriptions: this.subscriptions,
      clock,
      log,
      onLoad: metrics.onTableLoad,
    });
  }

  private swapped(apply: () => void): void {
    apply();
    const slots = [...this.tables.serving.routes.values(), ...this.subscriptions.routes.values()];
    const live = slots.filter(({ isLinked }) => isLinked).map(({ linked }) => linked.window);
    this.windows.retain(new Set(live), this.context.clock.monotonic());
    this.onSwap();
    if (this.listening !== null) this.keepServed();
    this.warnOfStart();
  }

  /** From now on, each table is kept for a later start: it was really served. */
  listens(at: Listening): void {
    this.listening = at;
    this.keepServed();
  }

  private keepServed(): void {
    this.copied = this.context.keepServed(this.plan.hash);
  }

  /** Warns that a changed address, store or console takes effect at the next start, because they are opened once. */
  private warnOfStart(): void {
    const { server, gateway: plan } = this.plan;
    const { log } = this.context;
    const serving = this.listening?.configured;
    const wanted = this.addressFor(server);
    if (serving !== undefined && !isDeepStrictEqual(wanted, serving)) {
      log.warn({ ...wanted, serving }, 'changes of host and port take effect after a restart');
    }
    this.first ??= plan;
    for (const key of ['store', 'console'] as const) {
      if (isDeepStrictEqual(openedOnce(plan[key]), openedOnce(this.first[key]))) continue;
      log.warn({}, `changes of gateway.${key} take effect after a restart`);
    }
  }

  /** A new context for each link, with the current secrets and lists. Rejects with the error of a resolver's check. */
  private async linkContext(
    table: RouteTable,
    plans: readonly RoutePlan[],
    refs: readonly SecretRef[],
  ): Promise<LinkContext> {
    const { modules, home, userHome, files, enrolments, clock, log } = this.context;
    const { host } = this.listening?.configured ?? this.addressFor(table.server);
    const lists = { stat: files.stat, read: files.readText };
    await this.context.confinement.keep(table, plans);
    return {
      home,
      secrets: await this.context.secrets(refs, host),
      windows: this.windows,
      marks: await loadMarks(modules, plans),
      linkScheme: schemeLinker(),
      linkIdentity: identityLinker(table),
      openList: createListOpener({ home, userHome, files: lists, clock, log }),
      place: (profile, target) => this.user.place(profile, target),
      // A proxy on this machine sends requests of others.
      loopback: isLoopback(host) && table.server.public_url === null && table.server.trusted_proxies.length === 0,
      capture: (plan) => enrolments.capture(plan),
    };
  }
}

/** Without the people of a console, who change with the table. */
const openedOnce = (plan: object | null): object => ({ ...plan, token: null, viewer_token: null, users: null });
