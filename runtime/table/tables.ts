/**
 * Holds the one table in service and replaces it, whole, when its source changes or a program hands over another.
 *
 * A load reads, checks and links the new table beside the old one, in pieces; then one assignment puts it in service.
 * Requests keep the route they were given. A table that cannot be served leaves the old one, and says so in the log and
 * in the status. Changes of a file are noticed by a watch on its folder; a `stat` before routing finds those it missed.
 */
import { messageOf } from '../../base/message-of.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { LinkedTable } from './link.ts';
import type { LinkedRoute } from './linked-table.ts';
import { TableError } from './load.ts';
import type { LiveSubscriptions } from './subscriptions.ts';
import type { TableSource } from './table-source.ts';
import { tableValue } from './table-source.ts';
import { TimeSlice } from './time-slice.ts';

export interface TableContext {
  readonly source: TableSource;
  /** Rejects with TableError when the table must not or cannot be served. */
  readonly link: (table: RouteTable, timeSlice: TimeSlice) => Promise<LinkedTable>;
  /** Called with each table about to be served; rejects with TableError to refuse it. What it returns runs at the swap. */
  readonly prepare: (table: RouteTable) => Promise<() => void>;
  readonly subscriptions: LiveSubscriptions;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts loads, for metrics. */
  readonly onLoad: (ok: boolean) => void;
}

export interface TableState {
  readonly hash: string;
  /** Unix ms. */
  readonly loadedAt: number;
  /** Counts the tables served since the start. */
  readonly generation: number;
  /** Why the newest table is not the one in service; null when it is. */
  readonly error: string | null;
}

/** How often routing looks for a change that the watch missed, in ms. */
const LOOK_MS = 1000;

export class Tables {
  private readonly context: TableContext;
  private source: TableSource;
  private table: LinkedTable | null = null;
  private state: TableState = { hash: '', loadedAt: 0, generation: 0, error: null };
  private reloading: Promise<boolean> | null = null;
  private again = false;
  private relink = false;
  private lookedAt = 0;
  private looked = false;
  /** What the requests of this turn wait for. */
  private pending: Promise<void> | null = null;
  private unwatch: (() => void) | null = null;

  constructor(context: TableContext) {
    this.context = context;
    this.source = context.source;
  }

  /** Loads the first table, takes in the subscriptions and starts to watch. @throws TableError when there is none to serve. */
  async start(): Promise<LinkedTable> {
    await this.loadFirst();
    await this.begin();
    return this.serving;
  }

  /** @throws TableError when there is none to serve. */
  async loadFirst(): Promise<RouteTable> {
    await this.load();
    return this.serving.plan;
  }

  /** Takes in the subscriptions and starts to watch: from here on another table may come. */
  async begin(): Promise<void> {
    const { log, subscriptions } = this.context;
    await subscriptions.refresh(this.serving.plan);
    await subscriptions.loading;
    try {
      this.unwatch = this.source.watch(() => this.reloadChanged());
    } catch (error) {
      log.warn({ reason: String(error) }, 'table folder cannot be watched: changes are noticed with the next request');
    }
  }

  /**
   * Serves this table from now on, in place of what its source holds: a file is no longer watched.
   * @throws TableError when it cannot be served; the one in service stays.
   */
  async swap(table: RouteTable): Promise<void> {
    const source = tableValue(table);
    while (this.reloading !== null) await this.reloading;
    const turn = this.take(table, new TimeSlice(this.context.clock));
    // Reloads that are asked for meanwhile come after it.
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

  /**
   * Looks for changes that the next request must see: null when there are none, else settles once they are taken in.
   * It looks once in a turn of the event loop: requests of one turn were all sent before it began, so that a subscription
   * written before a request was sent is never missed, at the price of one `stat` for all of them.
   */
  refresh(): Promise<void> | null {
    if (!this.looked) this.look();
    return this.pending;
  }

  /** The route at a request path. Static routes win over dynamic ones. */
  find(path: string): LinkedRoute | undefined {
    return (this.serving.routes.get(path) ?? this.context.subscriptions.routes.get(path))?.linked;
  }

  /** Settles when subscriptions that are being taken in are in service; null: none are. */
  get loading(): Promise<void> | null {
    return this.context.subscriptions.loading;
  }

  /**
   * Loads the file again when it changed; with `relink` also when it did not, because secrets beside it may have.
   * Never rejects; false when the table in service is still the old one.
   */
  reload(relink = false): Promise<boolean> {
    this.relink ||= relink;
    this.again = this.reloading !== null;
    this.reloading ??= this.runReload();
    return this.reloading;
  }

  private look(): void {
    this.looked = true;
    setImmediate(this.unlook);
    this.pending = this.context.subscriptions.refresh(this.serving.plan);
    const now = this.context.clock.monotonic();
    if (now - this.lookedAt < LOOK_MS) return;
    this.lookedAt = now;
    this.reloadChanged();
  }

  private reloadChanged(): void {
    if (this.source.changed()) void this.reload();
  }

  private readonly unlook = (): void => {
    this.looked = false;
  };

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
      'table cannot be loaded: the previous one stays in service',
    );
  }

  /** False when the source holds the table in service. */
  private async load(): Promise<boolean> {
    const timeSlice = new TimeSlice(this.context.clock);
    const current = this.relink ? '' : this.state.hash;
    this.relink = false;
    const plan = await this.source.load(current, timeSlice);
    if (plan === 'same') {
      this.state = { ...this.state, error: null };
      return false;
    }
    await this.take(plan, timeSlice);
    return true;
  }

  /** Puts a table in service, or rejects with TableError. */
  private async take(plan: RouteTable, timeSlice: TimeSlice): Promise<void> {
    const { prepare, subscriptions } = this.context;
    const table = await this.link(plan, timeSlice);
    const subscribe = await subscriptions.prepare(plan, timeSlice);
    const apply = await prepare(plan);
    this.table = table;
    subscribe();
    apply();
    this.took(plan);
  }

  /** What cannot be linked at all is a table of another program, whatever its hash says. @throws TableError */
  private async link(plan: RouteTable, timeSlice: TimeSlice): Promise<LinkedTable> {
    try {
      return await this.context.link(plan, timeSlice);
    } catch (error) {
      if (error instanceof TableError) throw error;
      const reason = messageOf(error);
      const message = `the table is not as this version's compiler makes it (${reason}): run \`hookwright compile\``;
      throw new TableError(message, { cause: error });
    }
  }

  private took({ hash, routes }: RouteTable): void {
    const { clock, log, onLoad } = this.context;
    const generation = this.state.generation + 1;
    this.state = { hash, loadedAt: clock.now(), generation, error: null };
    onLoad(true);
    log.info({ hash, generation, routes: Object.keys(routes).length }, 'table loaded');
  }
}
