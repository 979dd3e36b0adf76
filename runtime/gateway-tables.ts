/** The routes in service: the table and its subscriptions, and the context in which both are linked. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isLoopback } from '../base/loopback.ts';
import type { GatewayPlan, RoutePlan, RouteTable, SecretRef, ServerPlan } from '../schemas/generated/types.ts';
import { createLinkContext } from './gateway-context.ts';
import type { GatewayOptions, ListenAddress } from './gateway-options.ts';
import { routeSecretRefs, tableSecretRefs } from './platform/secrets/secret-refs.ts';
import type { Store } from './store/store.ts';
import { linkSubscriptions, linkTable } from './table/link.ts';
import type { LinkContext } from './table/link-context.ts';
import type { LinkedRoute } from './table/linked-table.ts';
import { TableError } from './table/load.ts';
import { RateWindows } from './table/rate-limit.ts';
import { LiveSubscriptions } from './table/subscriptions.ts';
import type { TableState } from './table/tables.ts';
import { Tables } from './table/tables.ts';

export type TablesOptions = Pick<
  GatewayOptions,
  | 'modules'
  | 'home'
  | 'userHome'
  | 'source'
  | 'host'
  | 'port'
  | 'secrets'
  | 'keeping'
  | 'capture'
  | 'lowerSubscriptions'
  | 'files'
  | 'clock'
  | 'log'
  | 'onTableLoad'
>;

/** Callbacks of a swap. */
export interface SwapHooks {
  /** Called with each later table before it is served; rejects with TableError to refuse it. Returns a function to call at the swap. */
  readonly prepare: (table: RouteTable) => Promise<() => void>;
  /** Called after each swap. */
  readonly swapped: () => void;
}

const NO_HOOKS: SwapHooks = { prepare: async () => () => {}, swapped: () => {} };

export class GatewayTables {
  /** The configured address on which the server listens; a later table does not change it. */
  bound: ListenAddress | null = null;
  /** The actual address, which differs for port 0. */
  listening: ListenAddress | null = null;
  readonly subscriptions: LiveSubscriptions;
  private readonly options: TablesOptions;
  private readonly windows = new RateWindows();
  private readonly tables: Tables;
  private hooks: SwapHooks = NO_HOOKS;
  /** The plan of the first table. */
  private first: GatewayPlan | null = null;
  private overrides: { readonly host: string | undefined; readonly port: number | undefined };

  constructor(options: TablesOptions) {
    this.options = options;
    this.overrides = { host: options.host, port: options.port };
    this.subscriptions = this.createSubscriptions();
    this.tables = this.createTables();
  }

  /** Loads and links the first table. Rejects with TableError listing everything that prevents serving it. */
  load(): Promise<RouteTable> {
    return this.tables.loadFirst();
  }

  /** Loads the subscriptions; from now on later tables are loaded too. */
  begin(hooks: SwapHooks): Promise<void> {
    this.hooks = hooks;
    this.swapped(() => {});
    return this.tables.begin();
  }

  /** Rate windows are counted in this store if it is shared. */
  shareWindows({ shared }: Store): void {
    if (shared !== null) this.windows.use((name) => shared.window(name));
  }

  stop(): void {
    this.tables.stop();
  }

  get plan(): RouteTable {
    return this.tables.serving.plan;
  }

  get state(): TableState {
    return this.tables.status;
  }

  /** See `Tables`. */
  reload(relink: boolean): Promise<boolean> {
    return this.tables.reload(relink);
  }

  /** See `Tables`. */
  swap(table: RouteTable): Promise<void> {
    return this.tables.swap(table);
  }

  refresh(): Promise<void> | null {
    return this.tables.refresh();
  }

  find(path: string): LinkedRoute | undefined {
    return this.tables.find(path);
  }

  get loading(): Promise<void> | null {
    return this.tables.loading;
  }

  /** The address of a table, with the overrides of the options. */
  addressFor({ host, port }: ServerPlan): ListenAddress {
    return { host: this.overrides.host ?? host, port: this.overrides.port ?? port };
  }

  /**
   * Overrides the address. Routes without a signature are served only on a loopback address, so the table is linked again
   * when that changes. Rejects with TableError when a route must not be served there.
   */
  async use({ host, port }: Partial<ListenAddress>): Promise<void> {
    const before = this.addressFor(this.plan.server);
    const last = this.overrides;
    this.overrides = { host: host ?? last.host, port: port ?? last.port };
    if (isLoopback(before.host) === isLoopback(this.addressFor(this.plan.server).host)) return;
    if (await this.tables.reload(true)) return;
    this.overrides = last;
    throw new TableError(this.state.error ?? 'the table cannot be linked again');
  }

  private createSubscriptions(): LiveSubscriptions {
    const { home, files, lowerSubscriptions, clock, log } = this.options;
    return new LiveSubscriptions({
      path: join(home, 'webhook_subscriptions.json'),
      stat: files.stat,
      read: files.readText,
      lower: lowerSubscriptions,
      link: async (table, plans) => {
        await this.options.keeping?.prepare(plans);
        const context = await this.linkContext(table, plans, plans.flatMap(routeSecretRefs));
        return (some) => linkSubscriptions(some, table, context);
      },
      clock,
      log,
    });
  }

  private createTables(): Tables {
    const { source, clock, log, onTableLoad } = this.options;
    return new Tables({
      source,
      link: async (table, timeSlice) =>
        linkTable(table, await this.linkContext(table, Object.values(table.routes), tableSecretRefs(table)), timeSlice),
      prepare: async (table) => {
        const apply = await this.hooks.prepare(table);
        return () => this.swapped(apply);
      },
      subscriptions: this.subscriptions,
      clock,
      log,
      onLoad: onTableLoad ?? (() => {}),
    });
  }

  private swapped(apply: () => void): void {
    apply();
    const slots = [...this.tables.serving.routes.values(), ...this.subscriptions.routes.values()];
    const live = slots.filter(({ isLinked }) => isLinked).map(({ linked }) => linked.window);
    this.windows.retain(new Set(live), this.options.clock.monotonic());
    this.hooks.swapped();
    const wanted = this.addressFor(this.plan.server);
    const { bound } = this;
    if (bound !== null && (wanted.host !== bound.host || wanted.port !== bound.port)) {
      this.options.log.warn({ ...wanted, serving: bound }, 'host and port change with the next start');
    }
    this.warnOfStart(this.plan.gateway);
  }

  /** Warns that a changed store or console takes effect with the next start, because they are opened once. */
  private warnOfStart(plan: GatewayPlan): void {
    this.first ??= plan;
    for (const key of ['store', 'console'] as const) {
      if (isDeepStrictEqual(plan[key], this.first[key])) continue;
      this.options.log.warn({}, `gateway.${key} changes with the next start`);
    }
  }

  /** A new context for each link, with the current secrets and lists. */
  private linkContext(
    table: RouteTable,
    plans: readonly RoutePlan[],
    refs: readonly SecretRef[],
  ): Promise<LinkContext> {
    const { host } = this.bound ?? this.addressFor(table.server);
    return createLinkContext(this.options, { table, plans, refs, host, windows: this.windows });
  }
}
