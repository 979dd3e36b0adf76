/**
 * This gateway's lease: its row in `node`. Each transaction checks the row's token, so that nothing is written once another
 * gateway has taken over, and stores its number there, so that after a lost connection it is known what was committed.
 * The server's clock decides when a lease can be taken over; only the token decides who may write.
 */

import type { NodeIdentity } from '../../../../runtime/module.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { SharedClock } from '../../../../runtime/platform/shared-clock.ts';
import type { PgConnection } from './driver.ts';
import { checkOverlap } from './migrate.ts';

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

/** The other gateways, as of a renewal. */
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
    if (row === undefined) throw new Error('the database has not made a row for this gateway');
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
   * Resumes the lease over a new connection with a new token, so that late statements of the old connection write nothing.
   * Waits for a transaction of the old connection that is under way. Resolves to the number of the last committed
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

  /** Ends the lease, so that others can take over this node's work at once. */
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
  const asked = clock.monotonic();
  const [row] = await db.query<{ now: number }>(NOW);
  if (row !== undefined) follow(row.now, { asked, answered: clock.monotonic() });
}
