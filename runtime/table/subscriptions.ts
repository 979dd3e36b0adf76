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
  /** Throws as node:fs does. */
  readonly read: (path: string) => string;
  readonly lower: LowerSubscriptions;
  readonly link: (plans: readonly RoutePlan[], table: RouteTable) => LinkedSubscriptions;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Larger files are refused, in bytes. */
const MAX_BYTES = 16_777_216;
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

  constructor(context: SubscriptionContext) {
    this.context = context;
  }

  /** Takes in a changed file. Cheap when it did not change. */
  refresh(table: RouteTable): void {
    try {
      const { path, stat, clock, log } = this.context;
      const found = stat(path);
      if (!this.version.differs(found)) return;
      this.version.note(found, clock.now());
      const text = this.read(found);
      if (text === this.seen) return;
      this.seen = text;
      this.apply(text, table);
      this.error = null;
      log.info({ routes: this.routes.size, rejected: this.rejected.length }, 'subscriptions loaded');
    } catch (error) {
      this.fail(error);
    }
  }

  /** Links what is in service over another table. */
  relink(table: RouteTable): void {
    try {
      this.apply(this.text, table);
    } catch (error) {
      this.fail(error);
    }
  }

  private apply(text: string, table: RouteTable): void {
    const { routes, rejected } = this.context.lower(text, table);
    const dynamic = routes.filter(({ name }) => !Object.hasOwn(table.routes, name));
    const linked = this.context.link(dynamic, table);
    this.routes = linked.routes;
    this.rejected = [...rejected, ...linked.rejected];
    this.text = text;
    this.tell();
  }

  /** A missing file holds no subscriptions. */
  private read(found: ReturnType<StatFile>): string {
    if (found === undefined) return EMPTY_FILE;
    if (found.size > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`);
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
