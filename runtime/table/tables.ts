/**
 * Holds the one table in service and replaces it, whole, when its file changes.
 *
 * A load reads, checks and links the new table beside the old one, in pieces; then one assignment puts it in service.
 * Requests keep the route they were given. A table that cannot be served leaves the old one, and says so in the log and
 * in the status. Changes are noticed by a watch on the folder; a `stat` before routing finds those it missed.
 */
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { Breather } from './breather.ts';
import type { StatFile } from './file-version.ts';
import { FileVersion } from './file-version.ts';
import type { LinkedTable } from './link.ts';
import type { LinkedRoute } from './linked-table.ts';
import { loadTable, TableError } from './load.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface TableContext {
  /** Absolute path of routes.json. */
  readonly path: string;
  readonly stat: StatFile;
  /** Rejects as node:fs/promises does. */
  readonly read: (path: string) => Promise<Buffer>;
  /** Calls back when a file in the folder of `path` changed; answers the way to stop. Throws as node:fs does. */
  readonly watch: (path: string, changed: () => void) => () => void;
  /** Rejects with TableError when the table must not or cannot be served. */
  readonly link: (table: RouteTable, breather: Breather) => Promise<LinkedTable>;
  /** Called with each table about to be served; rejects with TableError to refuse it. What it returns runs at the swap. */
  readonly prepare: (table: RouteTable) => Promise<() => void>;
  readonly subscriptions: Subscriptions;
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
  /** Why the file as it is now is not the one in service; null when it is. */
  readonly error: string | null;
}

/** How often routing looks for a change that the watch missed, in ms. */
const LOOK_MS = 1000;

export class Tables {
  private readonly context: TableContext;
  private readonly version = new FileVersion();
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
  }

  /** Loads the first table and starts to watch. @throws TableError when there is none to serve. */
  async start(): Promise<LinkedTable> {
    const { path, watch, log, subscriptions } = this.context;
    await this.load();
    await subscriptions.refresh(this.serving.plan);
    await subscriptions.loading;
    try {
      this.unwatch = watch(path, () => this.reloadChanged());
    } catch (error) {
      log.warn({ reason: String(error) }, 'table folder cannot be watched: changes are noticed with the next request');
    }
    return this.serving;
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
    if (this.changed()) void this.reload();
  }

  private readonly unlook = (): void => {
    this.looked = false;
  };

  private changed(): boolean {
    try {
      return this.version.differs(this.context.stat(this.context.path));
    } catch {
      return false;
    }
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
    const reason = error instanceof Error ? error.message : String(error);
    this.context.onLoad(false);
    if (reason === this.state.error) return;
    this.state = { ...this.state, error: reason };
    this.context.log.error(
      { reason, hash: this.state.hash },
      'table cannot be loaded: the previous one stays in service',
    );
  }

  /** False when the file holds the table in service. */
  private async load(): Promise<boolean> {
    const { path, stat, clock, prepare, subscriptions } = this.context;
    this.version.note(stat(path), clock.now());
    const breather = new Breather(clock);
    const current = this.relink ? '' : this.state.hash;
    this.relink = false;
    const plan = await loadTable(await this.read(path), current, breather);
    if (plan === 'same') {
      this.state = { ...this.state, error: null };
      return false;
    }
    const table = await this.link(plan, breather);
    const subscribe = await subscriptions.prepare(plan, breather);
    const apply = await prepare(plan);
    this.table = table;
    subscribe();
    apply();
    this.took(plan);
    return true;
  }

  /** What cannot be linked at all is a table of another program, whatever its hash says. @throws TableError */
  private async link(plan: RouteTable, breather: Breather): Promise<LinkedTable> {
    try {
      return await this.context.link(plan, breather);
    } catch (error) {
      if (error instanceof TableError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
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

  private async read(path: string): Promise<Buffer> {
    try {
      return await this.context.read(path);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      const hint = code === 'ENOENT' ? ': run `hookwright compile`' : '';
      throw new TableError(`${path} cannot be read (${code})${hint}`);
    }
  }
}
