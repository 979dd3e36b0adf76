/**
 * Loads the dynamic routes of `webhook_subscriptions.json` for the table in service (§2.7).
 *
 * `refresh` is called before requests are routed: it does one `stat`, and reads the file only if it changed. The request
 * that detects a change waits for it, so that it sees everything written before it was sent. A long file is checked and
 * linked in batches, and only requests for unknown routes wait for all of it. If a file is not an object of subscriptions,
 * the previous ones stay in service. An entry that cannot be served is quarantined with its reason; the others are served.
 */

import { messageOf } from '../../base/errors.ts';
import { readJson, writeJson } from '../../base/exact-number.ts';
import { tryParseJson } from '../../base/files.ts';
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { StatFile } from './in-file-set.ts';
import { FileVersion } from './in-file-set.ts';
import type { LinkedRoutes, RoutePaths } from './link.ts';
import { inBatches } from './link-context.ts';

interface SubscriptionContext extends LoadContext {
  readonly path: string;
  readonly stat: StatFile;
  /** Rejects as node:fs/promises does. */
  readonly read: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Maximum size of the file, in bytes. */
const MAX_BYTES = 16_777_216;
/** Every request waits for a changed file of up to this size, in bytes; it takes a few ms. */
const SHORT_BYTES = 262_144;
const NO_ROUTES: RoutePaths = new Map();
const EMPTY_FILE = '{}';

export class LiveSubscriptions {
  /** Dynamic routes by request path. */
  routes: RoutePaths = NO_ROUTES;
  rejected: readonly Rejected[] = [];
  /** Why the current file is not in service; null if it is. */
  error: string | null = null;
  /** Resolves when the file that is being loaded is in service or rejected; null if none is being loaded. Never rejects. */
  loading: Promise<void> | null = null;
  /** The last error logged: each is logged once for each content of the file. */
  private errorLogged: string | null = null;
  /** `loading`, if the file is short: every request waits for it. */
  private loadingShort: Promise<void> | null = null;
  private readonly context: SubscriptionContext;
  private readonly version = new FileVersion();
  /** The text in service, and the text of the file when it was last read. */
  private text = EMPTY_FILE;
  private seen: string | null = EMPTY_FILE;
  /** The table in service. */
  private table: RouteTable | null = null;
  private readonly logged = new Set<string>();

  constructor(context: SubscriptionContext) {
    this.context = context;
  }

  /**
   * Loads the file if it changed. Null if requests need not wait; otherwise resolves once it is in service or rejected. Never
   * rejects.
   */
  refresh(table: RouteTable): Promise<void> | null {
    this.table = table;
    try {
      const { path, stat, clock } = this.context;
      const stats = stat(path);
      if (!this.version.differs(stats)) return this.loadingShort;
      this.version.note(stats, clock.now());
      if (stats !== undefined && stats.size > MAX_BYTES) throw tooLong(path, stats.size);
      this.begin(stats?.size ?? null, table);
    } catch (error) {
      this.fail(error);
    }
    return this.loadingShort;
  }

  /** Links the subscriptions over the next table. Call the function that it returns when that table is swapped in. */
  async prepare(table: RouteTable): Promise<() => void> {
    let text = '';
    let loaded: Loaded | null = null;
    do {
      text = this.text;
      try {
        loaded = await loadSubscriptions(this.context, text, table);
      } catch (error) {
        this.fail(error);
      }
    } while (text !== this.text);
    return () => {
      // If another file was loaded in the meantime, it is read again, over this table, before the next request.
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

  /** Loads run one at a time, in the order in which the changes were seen. */
  private begin(size: number | null, table: RouteTable): void {
    const turn = (this.loading ?? Promise.resolve()).then(() => this.load(size !== null, table));
    const last = turn.then(() => {
      if (this.loading === last) this.loading = this.loadingShort = null;
    });
    this.loading = last;
    this.loadingShort = (size ?? 0) <= SHORT_BYTES ? last : null;
  }

  private async load(exists: boolean, table: RouteTable): Promise<void> {
    const { path, read } = this.context;
    try {
      const text = exists ? await read(path) : EMPTY_FILE;
      if (text === this.seen) return;
      this.seen = text;
      this.errorLogged = null;
      let loaded = await loadSubscriptions(this.context, text, this.table ?? table);
      // If the table was swapped in the meantime, link again, over the one in service.
      while (this.table !== null && loaded.table !== this.table) {
        loaded = await loadSubscriptions(this.context, text, this.table);
      }
      this.install(loaded);
      this.error = null;
      const { routes, rejected } = this;
      this.context.log.info({ routes: routes.size, rejected: rejected.length }, 'subscriptions loaded');
    } catch (error) {
      this.fail(error);
    }
  }

  private install({ text, routes, rejected }: Loaded): void {
    this.routes = routes;
    this.rejected = rejected;
    this.text = text;
    this.logRejected();
  }

  /** Logs each quarantined entry once, until its reason changes. */
  private logRejected(): void {
    const lines = new Set<string>();
    for (const { name, reason } of this.rejected) {
      const line = `${name}\n${reason}`;
      lines.add(line);
      if (!this.logged.has(line)) this.context.log.warn({ subscription: name, reason }, 'subscription is not served');
    }
    this.logged.clear();
    for (const line of lines) this.logged.add(line);
  }

  private fail(error: unknown): void {
    const reason = messageOf(error);
    this.error = reason;
    if (reason === this.errorLogged) return;
    this.errorLogged = reason;
    this.context.log.error({ reason }, 'could not read the subscriptions; the previous ones stay in service');
  }
}

function tooLong(path: string, size: number): Error {
  const stats = `${Math.ceil(size / 1_048_576)} MiB`;
  return new Error(`${path} has ${stats}, more than the limit of 16 MiB: remove subscriptions from it`);
}

/** A subscription that is not served, and why. */
export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/**
 * Validates and lowers the file's text, or the text of some of its entries, over a table.
 * @throws Error if the text is not an object of subscriptions.
 */
export type LowerSubscriptions = (
  text: string,
  table: RouteTable,
) => LoweredSubscriptions | Promise<LoweredSubscriptions>;

export interface LoweredSubscriptions {
  readonly routes: readonly RoutePlan[];
  readonly rejected: readonly Rejected[];
}

export interface LoadContext {
  readonly lower: LowerSubscriptions;
  readonly link: (table: RouteTable, plans: readonly RoutePlan[]) => Promise<LinkedRoutes>;
}

interface Loaded {
  readonly text: string;
  readonly table: RouteTable;
  readonly routes: RoutePaths;
  readonly rejected: readonly Rejected[];
}

/** Rejects if the text is not an object of subscriptions. */
export async function loadSubscriptions(
  { lower, link }: LoadContext,
  text: string,
  table: RouteTable,
): Promise<Loaded> {
  const plans: RoutePlan[] = [];
  const rejected: Rejected[] = [];
  const add = async (part: string): Promise<void> => {
    const lowered = await lower(part, table);
    plans.push(...lowered.routes.filter(({ name }) => !Object.hasOwn(table.routes, name)));
    rejected.push(...lowered.rejected);
  };
  const entries = entriesOf(text);
  if (entries === null) await add(text);
  else await inBatches(entries, (batch) => add(writeJson(Object.fromEntries(batch))));
  const linked = await link(table, plans);
  return { text, table, routes: linked.routes, rejected: [...rejected, ...linked.rejected] };
}

/** The entries of the file; null if its text is not an object, which `lower` reports. */
function entriesOf(text: string): readonly [name: string, entry: unknown][] | null {
  const data = tryParseJson(text.replace(/^\ufeff/, ''), readJson);
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.entries(data) : null;
}
