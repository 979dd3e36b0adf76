/**
 * The store on PostgreSQL that several gateways share. Changes go to the writer in groups, queries to a read-only
 * connection. While the database is unavailable, changes are rejected. A lost connection is reopened, with growing
 * pauses.
 */

import type { NodeIdentity } from '../../../../runtime/module.ts';
import type { Clock, SharedClock, Timer } from '../../../../runtime/platform/clock.ts';
import type { Logger } from '../../../../runtime/platform/log.ts';
import type {
  Mutation,
  MutationKind,
  MutationResults,
  Store,
  StoreProblem,
  WrittenAs,
} from '../../../../runtime/store/contract.ts';
import { StoreRefused, StoreUnavailable } from '../../../../runtime/store/contract.ts';
import { GroupCommit, Health, NEW_WORK } from '../../../../runtime/store/group-commit.ts';
import type { Query, QueryResults } from '../../../../runtime/store/queries.ts';
import type { SharedState, SharedStore } from '../../../../runtime/store/shared.ts';
import { describeOtherTables } from '../../../../runtime/store/shared.ts';
import type { StorePart } from '../../../../runtime/store/store-part.ts';
import { joinParts } from '../../../../runtime/store/store-part.ts';
import { RefusedRows } from '../refused-rows.ts';
import type { TakeSlots } from '../shared-window.ts';
import { SharedWindow } from '../shared-window.ts';
import type { PgConnect, PgConnection } from './driver.ts';
import { describePgError, isLost, loadDriver } from './driver.ts';
import { channelOf, OtherNodes, RENEW_MS } from './lease.ts';
import { migrate, quoteSchema } from './migrate.ts';
import { pgState, takeSlots } from './pg-state.ts';
import { createPgQueries } from './read.ts';
import type { PgQueries } from './transact.ts';
import { beginLaxOf, beginOf, beginReadOf, SnapshotReader } from './transact.ts';
import { PgWriter } from './writer.ts';

interface PgStoreParts {
  /** @param lost called when its connection is lost */
  readonly writer: (lost: (reason: string) => void) => PgWriter;
  readonly reader: SnapshotReader;
  /** Counts the requests of rate windows. */
  readonly counter: SnapshotReader;
  /** Changes sessions and documents. */
  readonly state: SnapshotReader;
  /** Stores and reads captured requests. */
  readonly requests: SnapshotReader;
  /** Records invalid rows. */
  readonly refused: RefusedRows;
  readonly others: (node: () => number) => OtherNodes;
  /** Hash of the table that this gateway serves. */
  readonly table: () => string | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly beforeCommit: (() => void) | undefined;
}

/** No work is started when less of the lease remains, in ms. */
const LEASE_MARGIN_MS = 1000;
/** First and longest pause between two attempts to connect, in ms; it doubles, with random jitter. */
const RETRY_MS = 250;
const MAX_RETRY_MS = 2000;
/** Changes that start work, which no other gateway may start too. */
const BEGINS_WORK: ReadonlySet<MutationKind> = new Set([...NEW_WORK, 'take_work']);

export class PostgresStore implements Store {
  readonly state: SharedState;
  private readonly parts: PgStoreParts;
  private readonly writer: PgWriter;
  private readonly group: GroupCommit;
  private readonly health: Health;
  private readonly queries: PgQueries;
  private readonly others: OtherNodes;
  private renewal: Timer | null = null;
  private retry: Timer | null = null;
  private retries = 0;
  private otherTables: readonly string[] = [];
  private closing: Promise<void> | null = null;

  constructor(parts: PgStoreParts) {
    this.parts = parts;
    const { clock, log, beforeCommit, reader, refused } = parts;
    this.writer = parts.writer((reason) => this.lost(reason));
    this.health = new Health(log, () => clock.now());
    this.others = parts.others(() => this.writer.node);
    this.queries = createPgQueries(reader.ask, refused);
    this.state = pgState({ reads: reader, writes: parts.state, requests: parts.requests });
    this.group = new GroupCommit({
      commit: (changes) => this.writer.commit(changes),
      beforeCommit,
      // A lost connection is reported separately; any other problem ends with the next commit.
      failed: (problem) => this.health.begin('unavailable', problem),
    });
  }

  /** Connects. Rejects with StoreRefused; an unavailable database is only reported by `problem()`. */
  async open(): Promise<void> {
    await this.connect();
    this.renewLater();
  }

  async write<M extends Mutation>(mutation: M, as?: WrittenAs): Promise<MutationResults[M['kind']]> {
    this.requireConnection();
    const { writer, health } = this;
    if (BEGINS_WORK.has(mutation.kind) && writer.leaseLeftMs < LEASE_MARGIN_MS) {
      throw new StoreUnavailable('could not renew the lease of this gateway in time');
    }
    const result = await this.group.write(mutation, as);
    // If the process was suspended, another gateway has taken over the work, and it must not start here.
    if (mutation.kind === 'take_work' && writer.leaseLeftMs <= 0) {
      throw new StoreUnavailable('the lease of this gateway expired while it fetched work');
    }
    // The connection may have been lost after this change was made.
    if (writer.isConnected) health.end('unavailable');
    this.others.notify(mutation.kind);
    return result;
  }

  read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]> {
    const ask = this.queries[query.kind] as unknown as (query: Q) => Promise<QueryResults[Q['kind']]>;
    return ask(query);
  }

  problem(): StoreProblem | null {
    return this.health.problem;
  }

  readonly shared: SharedStore = {
    otherTables: () => this.otherTables,
    refused: () => this.parts.refused.all,
    watch: (listener) => this.others.watch(listener),
    window: (name) => new SharedWindow(name, this.takeSlots, this.parts.clock),
  };

  /** Takes slots of a rate window. Rejects with StoreUnavailable. */
  readonly takeSlots: TakeSlots = async (request) => {
    this.requireConnection();
    return takeSlots(this.parts.counter, request);
  };

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    this.renewal?.cancel();
    this.retry?.cancel();
    this.others.close();
    await Promise.race([this.group.settled(), this.whenDisconnected()]);
    await this.writer.close();
    const { reader, counter, state, requests } = this.parts;
    await Promise.all([reader, counter, state, requests].map((connection) => connection.close()));
  }

  private requireConnection(): void {
    if (this.closing !== null) throw new StoreUnavailable('the store is closed');
    if (this.writer.isConnected) return;
    throw new StoreUnavailable(this.health.problem?.message ?? 'cannot reach the database');
  }

  /** Resolves once there is no connection, and so nothing to wait for. */
  private async whenDisconnected(): Promise<void> {
    while (this.writer.isConnected) await new Promise<void>((resolve) => this.parts.clock.after(RETRY_MS, resolve));
  }

  private lost(reason: string): void {
    this.beginProblem(`cannot reach the database: ${reason}`);
  }

  private beginProblem(problem: string): void {
    this.health.begin('unavailable', problem);
    this.connectLater();
  }

  private connectLater(): void {
    if (this.closing !== null || this.retry !== null) return;
    const pause = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.retries++);
    this.retry = this.parts.clock.after(pause * (0.5 + Math.random() / 2), () => {
      this.retry = null;
      // Tables of the wrong version may have been migrated since the last attempt.
      void this.connect().catch((error: unknown) => this.beginProblem(describePgError(error)));
    });
  }

  private async connect(): Promise<void> {
    try {
      await this.writer.connect();
      this.retries = 0;
      this.health.end('unavailable');
    } catch (error) {
      if (error instanceof StoreRefused) throw error;
      this.beginProblem(
        `the database ${isLost(error) ? 'is unavailable' : 'rejects this gateway'}: ${describePgError(error)}`,
      );
    }
  }

  private renewLater(): void {
    this.renewal = this.parts.clock.after(RENEW_MS, () => void this.renew());
  }

  private noteTables(tables: readonly string[]): void {
    const before = this.otherTables;
    this.otherTables = tables;
    const difference = describeOtherTables(this.parts.table(), tables);
    if (difference !== null && before.join() !== tables.join())
      this.parts.log.warn({ reason: difference }, 'the gateways serve different route tables');
  }

  private async renew(): Promise<void> {
    try {
      if (this.writer.isConnected) {
        const { left, tables } = await this.writer.renew();
        this.noteTables(tables);
        // A renewal is a commit, so the database accepts changes.
        this.health.end('unavailable');
        if (left > 0) this.others.left();
      }
    } catch (error) {
      this.health.begin('unavailable', `cannot renew the lease: ${describePgError(error)}`);
    }
    if (this.closing === null) this.renewLater();
  }
}

/** Opens the store on PostgreSQL that several gateways share (docs/store.md, "PostgreSQL"). */
export interface PostgresOptions {
  /** A libpq URL. Never logged. */
  readonly url: string;
  readonly schema: string;
  /** False behind a pooler in transaction mode: no LISTEN and no prepared statements; changes are found by polling. */
  readonly listen: boolean;
  /** Records invalid rows. Default: does nothing. */
  readonly refused?: RefusedRows;
  readonly node: NodeIdentity;
  readonly clock: Clock;
  /** Called with the time of the database, which all gateways follow. Default: does nothing. */
  readonly follow?: SharedClock['follow'];
  readonly log: Logger;
  /** What modules bring to changes; default: nothing. */
  readonly parts?: readonly StorePart[];
  /** Called before a change that records something is sent, so that its log lines are written first. */
  readonly beforeCommit?: () => void;
  /** Default: the driver's. */
  readonly connect?: PgConnect;
}

/**
 * Opens the store, after creating or migrating its tables. If the database cannot be reached, the store still opens:
 * `problem()` reports that it is unavailable, and it recovers once the database does. Rejects with StoreRefused when `pg`
 * is not installed, or this version cannot use the tables.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const {
    url,
    schema,
    listen,
    refused = new RefusedRows(),
    node,
    clock,
    log,
    parts,
    beforeCommit,
    follow = () => {},
  } = options;
  const quoted = quoteSchema(schema);
  const joined = joinParts(parts);
  const connect = options.connect ?? (await loadDriver());
  let isMigrated = false;
  const connectWriter = async (ended: () => void): Promise<PgConnection> => {
    const db = await connect({ url, name: 'hookwright', prepare: listen, ended });
    try {
      if (!isMigrated) await migrate(db, schema);
      isMigrated = true;
      return db;
    } catch (error) {
      void db.close().catch(() => {});
      throw error;
    }
  };
  const channel = listen ? channelOf(schema) : null;
  const connectReader = async (): Promise<PgConnection> => {
    const db = await connect({ url, name: 'hookwright reader', prepare: listen, notified: (from) => notified(from) });
    if (channel !== null) await db.script(`LISTEN "${channel}"`);
    return db;
  };
  const reader = new SnapshotReader(connectReader, beginReadOf(quoted));
  const separate = (use: string, begin: string): SnapshotReader =>
    new SnapshotReader(() => connect({ url, name: `hookwright ${use}`, prepare: listen }), begin);
  let notified = (_: string): void => {};
  const store = new PostgresStore({
    table: node.table,
    writer: (lost) =>
      new PgWriter({ connect: connectWriter, begin: beginOf(quoted), parts: joined, node, clock, follow, lost }),
    others: (node) => {
      const others = new OtherNodes({ reader, clock, channel, node });
      notified = (from) => others.notified(from);
      return others;
    },
    reader,
    counter: separate('counter', beginLaxOf(quoted)),
    state: separate('state', beginOf(quoted)),
    requests: separate('requests', beginLaxOf(quoted)),
    refused,
    clock,
    log,
    beforeCommit,
  });
  try {
    await store.open();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
