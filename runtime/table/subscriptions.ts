/**
 * The dynamic routes of `webhook_subscriptions.json`, for the table in service (§2.7).
 *
 * `refresh` is called before requests are routed: one `stat`, and the file is read only when it changed. The request that
 * finds a change waits for it, so that it is served by what was written before it was sent; a long file is checked and
 * linked in slices, and only requests for routes that are not known yet wait for all of it. A file that is not a list of
 * subscriptions leaves the previous ones in service; an entry that cannot be served is set aside with its reason, and the
 * others go on.
 */
import { messageOf } from '../../base/message-of.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { StatFile } from './file-version.ts';
import { FileVersion } from './file-version.ts';
import type { RoutePaths } from './link.ts';
import type { LoadContext, Loaded, Rejected } from './load-subscriptions.ts';
import { loadSubscriptions } from './load-subscriptions.ts';
import { TimeSlice } from './time-slice.ts';

export interface SubscriptionContext extends LoadContext {
  readonly path: string;
  readonly stat: StatFile;
  /** Rejects as node:fs/promises does. */
  readonly read: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Larger files are refused, in bytes. */
const MAX_BYTES = 16_777_216;
/** For a file up to this size every request waits: checking and linking it takes a few ms. */
const SHORT_BYTES = 262_144;
const NO_ROUTES: RoutePaths = new Map();
const EMPTY_FILE = '{}';

export class LiveSubscriptions {
  /** Dynamic routes by request path. */
  routes: RoutePaths = NO_ROUTES;
  rejected: readonly Rejected[] = [];
  /** Why the file as it is now is not the one in service; null when it is. */
  error: string | null = null;
  /** Settles when the file that is being taken in is in service, or is refused; null: none is. Never rejects. */
  loading: Promise<void> | null = null;
  /** Logged once for each content of the file, not with every request. */
  private errorLogged: string | null = null;
  /** The same for a short file: what every request waits for. */
  private soon: Promise<void> | null = null;
  private readonly context: SubscriptionContext;
  private readonly version = new FileVersion();
  /** What is in service, and what the file held when it was last read. */
  private text = EMPTY_FILE;
  private seen: string | null = EMPTY_FILE;
  /** The table in service. */
  private table: RouteTable | null = null;
  private readonly told = new Set<string>();

  constructor(context: SubscriptionContext) {
    this.context = context;
  }

  /**
   * Takes in a changed file. Null, and cheap, when a request has none to wait for; else settles once it is in service, or
   * refused. Never rejects.
   */
  refresh(table: RouteTable): Promise<void> | null {
    this.table = table;
    try {
      const { path, stat, clock } = this.context;
      const found = stat(path);
      if (!this.version.differs(found)) return this.soon;
      this.version.note(found, clock.now());
      if (found !== undefined && found.size > MAX_BYTES) throw tooLong(path, found.size);
      this.begin(found?.size ?? null, table);
    } catch (error) {
      this.fail(error);
    }
    return this.soon;
  }

  /** Links what is in service over a table about to be served, in slices; what it returns puts it in service with it. */
  async prepare(table: RouteTable, timeSlice: TimeSlice): Promise<() => void> {
    const { text } = this;
    let loaded: Loaded | null = null;
    try {
      loaded = await loadSubscriptions(this.context, text, table, timeSlice);
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

  /** One at a time, in the order in which the changes were seen. */
  private begin(size: number | null, table: RouteTable): void {
    const turn = (this.loading ?? Promise.resolve()).then(() => this.load(size !== null, table));
    const last = turn.then(() => {
      if (this.loading === last) this.loading = this.soon = null;
    });
    this.loading = last;
    this.soon = (size ?? 0) <= SHORT_BYTES ? last : null;
  }

  private async load(exists: boolean, table: RouteTable): Promise<void> {
    const { path, read, clock } = this.context;
    try {
      const text = exists ? await read(path) : EMPTY_FILE;
      if (text === this.seen) return;
      this.seen = text;
      this.errorLogged = null;
      let loaded = await loadSubscriptions(this.context, text, this.table ?? table, new TimeSlice(clock));
      // Swapped meanwhile: once more over the table that is in service now.
      while (this.table !== null && loaded.table !== this.table) {
        loaded = await loadSubscriptions(this.context, text, this.table, new TimeSlice(clock));
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
    const reason = messageOf(error);
    this.error = reason;
    if (reason === this.errorLogged) return;
    this.errorLogged = reason;
    this.context.log.error({ reason }, 'subscriptions cannot be read: the previous ones stay in service');
  }
}

function tooLong(path: string, size: number): Error {
  const found = `${Math.ceil(size / 1_048_576)} MiB`;
  return new Error(`${path} has ${found}, more than the 16 MiB that are read: remove subscriptions of it`);
}
