/**
 * Holds the table in service and replaces it as a whole when its source changes or the embedding program passes another.
 *
 * A load reads, checks and links the new table in batches while the old one serves; then one assignment puts it in
 * service. Requests keep their route. If the new table cannot be served, the old one stays, and log and status report why.
 * A watch on the file's folder reports changes; a `stat` before routing finds those that it missed.
 */
import { nearestPath } from '../../base/edit-distance.ts';
import { messageOf } from '../../base/errors.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { withoutRandomPart } from '../verify/handshake.ts';
import type { LinkedTable } from './link.ts';
import type { LinkedRoute } from './linked-table.ts';
import type { LiveSubscriptions } from './subscriptions.ts';
import type { TableSource } from './table-source.ts';
import { TableError, tableValue } from './table-source.ts';

export interface TableContext {
  readonly source: TableSource;
  /** Rejects with TableError if the table must not or cannot be served. */
  readonly link: (table: RouteTable) => Promise<LinkedTable>;
  /**
   * Called with each table before it is served; rejects with TableError to reject it. Returns a function to call at the swap.
   */
  readonly prepare: (table: RouteTable) => Promise<() => void>;
  readonly subscriptions: LiveSubscriptions;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts loads, for metrics. */
  readonly onLoad: (ok: boolean) => void;
}

export interface TableState {
  readonly hash: string;
  /** Unix ms. Loading the same table with other secrets does not change it. */
  readonly loadedAt: number;
  /** Number of tables served since the start. */
  readonly generation: number;
  /** Why the newest table is not the one in service; null if it is. */
  readonly error: string | null;
}

export class Tables {
  private readonly context: TableContext;
  private source: TableSource;
  private table: LinkedTable | null = null;
  private state: TableState = { hash: '', loadedAt: 0, generation: 0, error: null };
  private reloading: Promise<boolean> | null = null;
  private again = false;
  private relink = false;
  private unwatch: (() => void) | null = null;
  /** Checks for changes that the next request must see; null if there are none, otherwise resolves once they are loaded. */
  readonly refresh: () => Promise<void> | null;

  constructor(context: TableContext) {
    this.context = context;
    this.source = context.source;
    this.refresh = createChangeCheck({
      checkSubscriptions: () => context.subscriptions.refresh(this.serving.plan),
      checkTable: () => this.reloadChanged(),
      clock: context.clock,
    });
  }

  /** Rejects with TableError if there is no table to serve. */
  async loadFirst(): Promise<RouteTable> {
    await this.load();
    return this.serving.plan;
  }

  /** Loads the subscriptions and starts watching: from here on the table may be replaced. */
  async begin(): Promise<void> {
    const { log, subscriptions } = this.context;
    await subscriptions.refresh(this.serving.plan);
    await subscriptions.loading;
    try {
      this.unwatch = this.source.watch(() => this.reloadChanged());
    } catch (error) {
      log.warn(
        { reason: String(error) },
        'could not watch the folder of the table: changes are detected at the next request',
      );
    }
  }

  /**
   * Serves this table from now on; a file is no longer watched. Rejects with TableError if it cannot be served; then the table
   * in service stays.
   */
  async swap(table: RouteTable): Promise<void> {
    const source = tableValue(table);
    while (this.reloading !== null) await this.reloading;
    const turn = this.take(table);
    // Reloads requested in the meantime run after it.
    this.reloading = turn.then(
      () => true,
      () => false,
    );
    try {
      await turn;
      this.stop();
      this.source = source;
    } catch (error) {
      this.context.onLoad(false);
      throw error;
    } finally {
      this.reloading = null;
      if (this.again) void this.reload();
    }
  }

  stop(): void {
    this.unwatch?.();
    this.unwatch = null;
  }

  get serving(): LinkedTable {
    if (this.table === null) throw new Error('no table is loaded');
    return this.table;
  }

  get status(): TableState {
    return this.state;
  }

  /** The route at a request path, which may end with a slash. Static routes win over dynamic ones. */
  find(path: string): LinkedRoute | undefined {
    const exact = path.endsWith('/') ? path.slice(0, -1) : path;
    const route = this.at(exact);
    if (route !== undefined) return route;
    const enrolled = this.at(withoutRandomPart(exact) ?? exact);
    return enrolled?.awaitsSecret == null ? undefined : enrolled;
  }

  private readonly at = (path: string): LinkedRoute | undefined =>
    (this.serving.routes.get(path) ?? this.context.subscriptions.routes.get(path))?.linked;

  /** The path of a route that may be meant by an unknown one; null: none is similar. */
  nearest(path: string): string | null {
    return nearestPath(path, [...this.serving.routes.keys(), ...this.context.subscriptions.routes.keys()]);
  }

  /** Resolves when the subscriptions that are being loaded are in service; null if none are being loaded. */
  get loading(): Promise<void> | null {
    return this.context.subscriptions.loading;
  }

  /**
   * Loads the table if it changed; with `relink` even if it did not, because secrets may have changed. Never rejects; false if
   * the old table is still in service.
   */
  reload(relink = false): Promise<boolean> {
    this.relink ||= relink;
    this.again = this.reloading !== null;
    this.reloading ??= this.runReload();
    return this.reloading;
  }

  private reloadChanged(): void {
    if (this.source.changed()) void this.reload();
  }

  private async runReload(): Promise<boolean> {
    let swapped = false;
    do {
      this.again = false;
      try {
        swapped = (await this.load()) || swapped;
      } catch (error) {
        this.fail(error);
      }
    } while (this.again);
    this.reloading = null;
    return swapped;
  }

  private fail(error: unknown): void {
    const reason = messageOf(error);
    this.context.onLoad(false);
    if (reason === this.state.error) return;
    this.state = { ...this.state, error: reason };
    this.context.log.error(
      { reason, hash: this.state.hash },
      'could not load the table; the previous one stays in service',
    );
  }

  /** False if the source still has the table in service. */
  private async load(): Promise<boolean> {
    const current = this.relink ? '' : this.state.hash;
    this.relink = false;
    const plan = await this.source.load(current);
    if (plan === 'same') {
      this.state = { ...this.state, error: null };
      return false;
    }
    await this.take(plan);
    return true;
  }

  /** Puts a table in service, or rejects with TableError. */
  private async take(plan: RouteTable): Promise<void> {
    const { prepare, subscriptions } = this.context;
    const table = await this.link(plan);
    const apply = await prepare(plan);
    // Last: no request sees older subscriptions at the swap.
    const subscribe = await subscriptions.prepare(plan);
    this.table = table;
    subscribe();
    apply();
    this.recordSwap(plan);
  }

  /** Rejects with TableError. Any other error means that another version's compiler made the table. */
  private async link(plan: RouteTable): Promise<LinkedTable> {
    try {
      return await this.context.link(plan);
    } catch (error) {
      if (error instanceof TableError) throw error;
      const reason = messageOf(error);
      const message = `the compiled table does not match this version (${reason}): run \`hookwright compile\``;
      throw new TableError(message, { cause: error });
    }
  }

  private recordSwap({ hash, routes }: RouteTable): void {
    const { clock, log, onLoad } = this.context;
    const { state } = this;
    // The same table was loaded before, with other secrets.
    const isNew = hash !== state.hash;
    const generation = isNew ? state.generation + 1 : state.generation;
    this.state = { hash, loadedAt: isNew ? clock.now() : state.loadedAt, generation, error: null };
    onLoad(true);
    log.info({ hash, generation, routes: Object.keys(routes).length }, 'table loaded');
  }
}

/** Checks for changes of the table and the subscriptions before a request is routed, at most once per turn of the event loop. */
interface ChangeCheckContext {
  /** Called once per turn. Null if the subscriptions have not changed, otherwise resolves once they are loaded. */
  readonly checkSubscriptions: () => Promise<void> | null;
  /** Called at most once per second, for changes that the watch on the table's folder missed. */
  readonly checkTable: () => void;
  readonly clock: Clock;
}

/** Interval of checks of the table, in ms. */
const TABLE_MS = 1000;

/**
 * Returns null if the request need not wait, otherwise a promise that resolves once it can be routed. The requests of one turn
 * were all sent before it started, so one `stat` for all of them never misses a subscription that was written before its
 * request was sent.
 */
function createChangeCheck({ checkSubscriptions, checkTable, clock }: ChangeCheckContext): () => Promise<void> | null {
  let isDone = false;
  let tableCheckedAt = 0;
  /** The change that the requests of this turn wait for. */
  let pending: Promise<void> | null = null;
  const endTurn = (): void => {
    isDone = false;
  };
  return () => {
    if (isDone) return pending;
    isDone = true;
    setImmediate(endTurn);
    pending = checkSubscriptions();
    const now = clock.monotonic();
    if (now - tableCheckedAt < TABLE_MS) return pending;
    tableCheckedAt = now;
    checkTable();
    return pending;
  };
}
