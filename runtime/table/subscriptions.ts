/**
 * The dynamic routes of `webhook_subscriptions.json`, for the table in service (§2.7).
 *
 * `refresh` is called before requests are routed: one `stat`, and the file is read only when it changed. What a few
 * milliseconds are enough for is taken in at once, so that the very next request finds it; a long file is checked and
 * linked in slices between requests, and put in service when it is done. A file that is not a list of subscriptions leaves
 * the previous ones in service; an entry that cannot be served is set aside with its reason, and the others go on.
 */
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { Breather } from './breather.ts';
import type { StatFile } from './file-version.ts';
import { FileVersion } from './file-version.ts';
import type { RoutePaths } from './link.ts';
import type { LoadContext, Loaded, Loading, Rejected } from './load-subscriptions.ts';
import { inSlices, loadSubscriptions } from './load-subscriptions.ts';

export interface SubscriptionContext extends LoadContext {
  readonly path: string;
  readonly stat: StatFile;
  /** Throws as node:fs does. */
  readonly read: (path: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Larger files are refused, in bytes. */
const MAX_BYTES = 16_777_216;
/** A file is taken in at once for so long, in ms; then in slices. */
const AT_ONCE_MS = 50;
const NO_ROUTES: RoutePaths = new Map();
const EMPTY_FILE = '{}';

export class Subscriptions {
  /** Dynamic routes by request path. */
  routes: RoutePaths = NO_ROUTES;
  rejected: readonly Rejected[] = [];
  /** Why the file as it is now is not the one in service; null when it is. */
  error: string | null = null;
  /** Settles when the file that is being taken in is in service, or is refused; null: none is. Never rejects. */
  loading: Promise<void> | null = null;
  private readonly context: SubscriptionContext;
  private readonly version = new FileVersion();
  /** What is in service, and what the file held when it was last looked at. */
  private text = EMPTY_FILE;
  private seen: string | null = EMPTY_FILE;
  /** The table in service. */
  private table: RouteTable | null = null;
  private readonly told = new Set<string>();

  constructor(context: SubscriptionContext) {
    this.context = context;
  }

  /** Takes in a changed file, or begins to. Cheap when it did not change. */
  refresh(table: RouteTable): void {
    this.table = table;
    if (this.loading !== null) return;
    try {
      const { path, stat, clock } = this.context;
      const found = stat(path);
      if (!this.version.differs(found)) return;
      this.version.note(found, clock.now());
      const text = this.read(found);
      if (text === this.seen) return;
      this.seen = text;
      this.take(text, table);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Links what is in service over a table about to be served, in slices; what it returns puts it in service with it. */
  async prepare(table: RouteTable, breather: Breather): Promise<() => void> {
    const { text } = this;
    let loaded: Loaded | null = null;
    try {
      loaded = await inSlices(loadSubscriptions(this.context, text, table), breather);
    } catch (error) {
      this.fail(error);
    }
    return () => {
      // Another file came in while this one was linked: it is taken in over this table before the next request.
      const isOld = this.text !== text;
      this.table = table;
      if (loaded !== null) this.install(loaded);
      if (isOld) this.readAgain();
    };
  }

  private readAgain(): void {
    this.version.note(undefined, this.context.clock.now());
    this.seen = null;
  }

  private take(text: string, table: RouteTable): void {
    const { clock } = this.context;
    const loading = loadSubscriptions(this.context, text, table);
    const end = clock.monotonic() + AT_ONCE_MS;
    for (let step = loading.next(); ; step = loading.next()) {
      if (step.done === true) {
        this.tookIn(step.value);
        return;
      }
      if (clock.monotonic() >= end) break;
    }
    this.loading = this.takeInSlices(loading, text).finally(() => {
      this.loading = null;
    });
  }

  private async takeInSlices(loading: Loading, text: string): Promise<void> {
    try {
      const breather = new Breather(this.context.clock);
      let loaded = await inSlices(loading, breather);
      // Swapped meanwhile: once more over the table that is in service now.
      while (this.table !== null && loaded.table !== this.table) {
        loaded = await inSlices(loadSubscriptions(this.context, text, this.table), breather);
      }
      this.tookIn(loaded);
    } catch (error) {
      this.fail(error);
    }
  }

  private tookIn(loaded: Loaded): void {
    this.install(loaded);
    this.error = null;
    const { routes, rejected } = this;
    this.context.log.info({ routes: routes.size, rejected: rejected.length }, 'subscriptions loaded');
  }

  private install({ text, routes, rejected }: Loaded): void {
    this.routes = routes;
    this.rejected = rejected;
    this.text = text;
    this.tell();
  }

  /** A missing file holds no subscriptions. */
  private read(found: ReturnType<StatFile>): string {
    if (found === undefined) return EMPTY_FILE;
    if (found.size > MAX_BYTES) {
      const size = `${Math.ceil(found.size / 1_048_576)} MiB`;
      throw new Error(
        `${this.context.path} has ${size}, more than the 16 MiB that are read: remove subscriptions of it`,
      );
    }
    return this.context.read(this.context.path);
  }

  /** Each entry that is set aside is logged once, until its reason changes. */
  private tell(): void {
    const now = new Set<string>();
    for (const { name, reason } of this.rejected) {
      const line = `${name}\n${reason}`;
      now.add(line);
      if (!this.told.has(line)) this.context.log.warn({ subscription: name, reason }, 'subscription is not served');
    }
    this.told.clear();
    for (const line of now) this.told.add(line);
  }

  private fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.error) return;
    this.error = reason;
    this.context.log.error({ reason }, 'subscriptions cannot be read: the previous ones stay in service');
  }
}
