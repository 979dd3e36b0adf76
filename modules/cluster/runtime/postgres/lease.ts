/**
 * This gateway's lease: its row in `node`. Each transaction checks the row's token, so that nothing is written once
 * another gateway has taken over. It also stores its number there, so that after a lost connection the last committed
 * transaction is known. The server's clock decides when a lease can be taken over; only the token decides who may
 * write.
 */
import type { NodeIdentity } from '../../../../runtime/module.ts';
import type { Clock, SharedClock, Timer } from '../../../../runtime/platform/clock.ts';
import type { MutationKind } from '../../../../runtime/store/contract.ts';
import type { SharedChange } from '../../../../runtime/store/shared.ts';
import type { PgConnection } from './driver.ts';
import { checkOverlap } from './migrate.ts';
import type { SnapshotReader } from './transact.ts';

/** Duration of a lease, and how often it is renewed, in ms. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 3000;

/** This node's lease has expired, and another gateway has taken over its work. */
export class LeaseEnded extends Error {
  override readonly name = 'LeaseEnded';
}

const UNTIL = `clock_timestamp() + interval '${LEASE_MS} ms'`;
/** Number of nodes whose lease has expired and whose work no gateway has taken over. */
const LEFT =
  '(SELECT count(*) FROM node o WHERE o.ended_at IS NULL AND o.until < (SELECT clock_timestamp())) AS left_behind';

/** Tables that the other gateways serve. */
const TABLES =
  'ARRAY(SELECT DISTINCT o.table_hash FROM node o WHERE o.id <> node.id AND o.ended_at IS NULL ' +
  'AND o.until > (SELECT clock_timestamp()) AND o.table_hash IS NOT NULL ORDER BY 1) AS tables';

/** The other gateways, at the time of a renewal. */
export interface Others {
  /** Number of expired leases whose work has not been taken over. */
  readonly left: number;
  /** Hashes of the tables that they serve. */
  readonly tables: readonly string[];
}

/** Read at the start and at each renewal: a gateway whose tables have become too new loses its lease. */
const SCHEMA = 'current_schema()::text AS schema, (SELECT version FROM schema_version) AS version';

interface SchemaRow {
  readonly schema: string;
  readonly version: number;
}

export class Lease {
  /** The row of this start. */
  readonly id: number;
  private token: number;
  private batch = 0;

  private constructor(id: number, token: number) {
    this.id = id;
    this.token = token;
  }

  /** Begins a lease. Rejects with StoreRefused when the tables are too new. */
  static async begin(db: PgConnection, { url, version, table, problem }: NodeIdentity): Promise<Lease> {
    const [row] = await db.query<SchemaRow & { id: number; token: number }>(
      'INSERT INTO node (until, url, version, table_hash, problem) ' +
        `VALUES (${UNTIL}, $1, $2, $3, $4) RETURNING id, token, ${SCHEMA}`,
      [url(), version, table(), problem()],
    );
    if (row === undefined) throw new Error('the database created no row for this gateway');
    checkOverlap(row);
    return new Lease(row.id, row.token);
  }

  /** The first statement of a transaction, and its number. It returns no row when the lease has ended. */
  nextBatch(): { readonly number: number; readonly sql: string } {
    const number = ++this.batch;
    return {
      number,
      sql: `UPDATE node SET batch = ${number} WHERE id = ${this.id} AND token = ${this.token} RETURNING id`,
    };
  }

  /** Renews the lease. Rejects with LeaseEnded, or with StoreRefused when the tables are too new. */
  async renew(db: PgConnection, { url, table, problem }: NodeIdentity): Promise<Others> {
    const [row] = await db.query<SchemaRow & { left_behind: number; tables: readonly string[] }>(
      `UPDATE node SET until = ${UNTIL}, url = $3, table_hash = $4, problem = $5 WHERE id = $1 AND token = $2 ` +
        `RETURNING ${LEFT}, ${TABLES}, ${SCHEMA}`,
      [this.id, this.token, url(), table(), problem()],
    );
    if (row === undefined) throw new LeaseEnded('another gateway has taken over the work of this one');
    checkOverlap(row);
    return { left: row.left_behind, tables: row.tables };
  }

  /**
   * Resumes the lease over a new connection with a new token, so that late statements of the old connection write
   * nothing. Waits for a running transaction of the old connection. Resolves to the number of the last committed
   * transaction. If another gateway has taken over, the next use of the lease fails with LeaseEnded.
   */
  async resume(db: PgConnection): Promise<number> {
    // Only a gateway that takes over sets ended_at; only that one and this one change the token.
    const [row] = await db.query<{ batch: number; token: number }>(
      `UPDATE node SET token = token + 1, until = ${UNTIL} WHERE id = $1 AND ended_at IS NULL RETURNING batch, token`,
      [this.id],
    );
    if (row !== undefined) {
      this.token = row.token;
      return row.batch;
    }
    const [ended] = await db.query<{ batch: number }>('SELECT batch FROM node WHERE id = $1', [this.id]);
    this.token = -1;
    return ended?.batch ?? 0;
  }

  /** Ends the lease, so that others can take over this node's work immediately. */
  async end(db: PgConnection): Promise<void> {
    await db.change(
      'UPDATE node SET token = token + 1, until = clock_timestamp(), ended_at = clock_timestamp() WHERE id = $1 AND token = $2',
      [this.id, this.token],
    );
  }
}

const NOW = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now';

/** @param follow called with Unix ms, and the monotonic times before and after the query */
export async function readServerTime(db: PgConnection, clock: Clock, follow: SharedClock['follow']): Promise<void> {
  const requestedAt = clock.monotonic();
  const [row] = await db.query<{ now: number }>(NOW);
  if (row !== undefined) follow(row.now, { asked: requestedAt, answered: clock.monotonic() });
}

/*
 * Exchanges notifications of changes with other gateways. They only shorten waits, because polling finds the same
 * changes a little later. Each node sends at most ten per second: a NOTIFY in each transaction would serialise the
 * commits.
 */

/** Time between two notifications, and between two polls with and without LISTEN, in ms. */
const NOTIFY_MS = 100;
const LISTENING_MS = 5000;
const POLL_MS = 1000;
/** Changes that may concern other gateways, and the notification for each. */
const NOTES: Partial<Record<MutationKind, SharedChange>> = {
  accept: 'work',
  join_group: 'work',
  flush_groups: 'work',
  advance: 'work',
  record_attempt: 'work',
  tick_job: 'work',
  fire_job: 'work',
  put_job: 'jobs',
  remove_job: 'jobs',
  pause_job: 'jobs',
  watch_job: 'jobs',
};

/** The channel for notifications of gateways and commands. */
export const channelOf = (schema: string): string => `hookwright ${schema}`;

/** The payload of a notification. @param node number of the gateway; 0: a command */
export const noteOf = (node: number, change: SharedChange): string =>
  change === 'work' ? `${node}` : `${node} ${change}`;

interface OtherNodesParts {
  readonly reader: SnapshotReader;
  readonly clock: Clock;
  /** Null: use neither LISTEN nor NOTIFY. */
  readonly channel: string | null;
  /** This gateway's row in `node`. */
  readonly node: () => number;
}

export class OtherNodes {
  private readonly parts: OtherNodesParts;
  private readonly listeners: ((change: SharedChange) => void)[] = [];
  private pending: SharedChange = 'work';
  private sending: Timer | null = null;
  private poll: Timer | null = null;

  constructor(parts: OtherNodesParts) {
    this.parts = parts;
  }

  watch(listener: (change: SharedChange) => void): void {
    this.listeners.push(listener);
    if (this.poll === null) this.pollLater();
  }

  /** Notifies the others of a committed change, within a short time. */
  notify(kind: MutationKind): void {
    const { channel, clock, node } = this.parts;
    const change = NOTES[kind];
    if (channel === null || change === undefined) return;
    if (change === 'jobs') this.pending = change;
    this.sending ??= clock.after(NOTIFY_MS, () => {
      this.sending = null;
      void this.send('SELECT pg_notify($1, $2)', channel, noteOf(node(), this.pending));
      this.pending = 'work';
    });
  }

  /** Handles a notification. @param note see `noteOf` */
  notified(note: string): void {
    const [node, change] = note.split(' ');
    if (node !== String(this.parts.node())) this.emit(change === 'jobs' ? change : 'work');
  }

  /** Call it when leases have expired and no gateway has taken over. */
  left(): void {
    this.emit('left');
  }

  close(): void {
    this.sending?.cancel();
    this.poll?.cancel();
    this.listeners.length = 0;
  }

  private emit(change: SharedChange): void {
    for (const listener of this.listeners) listener(change);
  }

  private pollLater(): void {
    const { clock, channel } = this.parts;
    this.poll = clock.after(channel === null ? POLL_MS : LISTENING_MS, () => {
      // Also detects a lost connection of the listener, and reopens it.
      if (channel !== null) void this.send('SELECT 1');
      this.emit('work');
      this.pollLater();
    });
  }

  private async send(sql: string, ...values: readonly string[]): Promise<void> {
    try {
      await (await this.parts.reader.open()).query(sql, values);
    } catch {
      // Ignored: the next poll finds the changes.
    }
  }
}
