/**
 * The dynamic routes of `webhook_subscriptions.json`, for the table in service (§2.7).
 *
 * `refresh` is called before requests are routed: one `stat`, and the file is read only when it changed. A file that is
 * not a list of subscriptions leaves the previous ones in service; an entry that cannot be served is set aside with its
 * reason, and the others go on.
 */
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { StatFile } from './file-version.ts';
import { FileVersion } from './file-version.ts';
import type { LinkedSubscriptions, RoutePaths } from './link.ts';

export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/**
 * Validates and lowers the file's text over a table.
 * @throws Error when the text as a whole is no list of subscriptions.
 */
export type LowerSubscriptions = (
  text: string,
  table: RouteTable,
) => { readonly routes: readonly RoutePlan[]; readonly rejected: readonly Rejected[] };

export interface SubscriptionContext {
  readonly path: string;
  readonly stat: StatFile;
  /** Rejects as node:fs/promises does. */
  readonly read: (path: string) => Promise<string>;
  readonly lower: LowerSubscriptions;
  readonly link: (plans: readonly RoutePlan[], table: RouteTable) => Promise<LinkedSubscriptions>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Subscriptions linked over a table, not yet in service. */
interface Linked {
  readonly text: string;
  readonly routes: RoutePaths;
  readonly rejected: readonly Rejected[];
}

const NO_ROUTES: RoutePaths = new Map();
const EMPTY_FILE = '{}';

export class Subscriptions {
  /** Dynamic routes by request path. */
  routes: RoutePaths = NO_ROUTES;
  rejected: readonly Rejected[] = [];
  /** Why the file as it is now is not the one in service; null when it is. */
  error: string | null = null;
  private readonly context: SubscriptionContext;
  private readonly version = new FileVersion();
  /** What is in service, and what the file held when it was last looked at. */
  private text = EMPTY_FILE;
  private seen = EMPTY_FILE;
  private readonly told = new Set<string>();
  private refreshing: Promise<void> | null = null;

  constructor(context: SubscriptionContext) {
    this.context = context;
  }

  /**
   * Takes in a changed file over the table then in service. Null, and cheap, when the file did not change.
   * What it returns never rejects.
   */
  refresh(table: () => RouteTable): Promise<void> | null {
    try {
      const found = this.context.stat(this.context.path);
      if (!this.version.differs(found)) return this.refreshing;
      this.version.note(found, this.context.clock.now());
      // One at a time, in the order in which the changes were seen.
      const turn = (this.refreshing ?? Promise.resolve()).then(() => this.load(found !== undefined, table));
      const last = turn.then(() => {
        if (this.refreshing === last) this.refreshing = null;
      });
      this.refreshing = last;
    } catch (error) {
      this.fail(error);
    }
    return this.refreshing;
  }

  /** Links what is in service over another table; null when that fails. Never rejects. */
  async relink(table: RouteTable): Promise<Linked | null> {
    try {
      return await this.link(this.text, table);
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** False when the file has changed since that was linked. */
  isCurrent(linked: Linked | null): boolean {
    return linked === null || linked.text === this.text;
  }

  /** Puts what was linked in service. */
  take(linked: Linked | null): void {
    if (linked === null) return;
    this.routes = linked.routes;
    this.rejected = linked.rejected;
    this.text = linked.text;
    this.tell();
  }

  private async load(exists: boolean, table: () => RouteTable): Promise<void> {
    const { path, read, log } = this.context;
    try {
      const text = exists ? await read(path) : EMPTY_FILE;
      if (text === this.seen) return;
      this.seen = text;
      let over: RouteTable;
      let linked: Linked;
      // A table that was put in service meanwhile is the one to link over.
      do {
        over = table();
        linked = await this.link(text, over);
      } while (over !== table());
      this.take(linked);
      this.error = null;
      log.info({ routes: this.routes.size, rejected: this.rejected.length }, 'subscriptions loaded');
    } catch (error) {
      this.fail(error);
    }
  }

  private async link(text: string, table: RouteTable): Promise<Linked> {
    const { routes, rejected } = this.context.lower(text, table);
    const dynamic = routes.filter(({ name }) => !Object.hasOwn(table.routes, name));
    const linked = await this.context.link(dynamic, table);
    return { text, routes: linked.routes, rejected: [...rejected, ...linked.rejected] };
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
