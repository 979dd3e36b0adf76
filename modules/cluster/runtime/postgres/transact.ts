/**
 * Runs transactions. Each sets its own parameters, because behind a pooler a setting lasts only for a transaction.
 * Queries use separate connections.
 */

import { StoreUnavailable } from '../../../../runtime/store/contract.ts';
import type { Query, QueryKind, QueryResults } from '../../../../runtime/store/queries.ts';
import type { PgConnection, PgValue } from './driver.ts';
import { describePgError } from './driver.ts';

/** Timeouts in ms: for a lock, for a statement, and for an idle transaction. */
const LOCK_MS = 5000;
const STATEMENT_MS = 8000;
const IDLE_MS = 5000;

/** @param schema quoted */
export function beginOf(schema: string): string {
  const settings = [
    ['search_path', schema],
    ['lock_timeout', `${LOCK_MS}`],
    ['statement_timeout', `${STATEMENT_MS}`],
    // A gateway that is suspended or disconnected must not keep its locks.
    ['idle_in_transaction_session_timeout', `${IDLE_MS}`],
  ];
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ');
  return (
    `BEGIN; SELECT ${set}; ` +
    // Acknowledged means stored; a stronger setting stays.
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
  );
}

/** For data that may be lost in a crash of the server: the commit does not wait for the disk. */
export const beginLaxOf = (schema: string): string => `${beginOf(schema)}; SET LOCAL synchronous_commit = off`;

/** For queries: one read-only snapshot. @param schema quoted */
export const beginReadOf = (schema: string): string =>
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${schema}`;

/** Runs `work` as one transaction; its statements are sent after `begin` without waiting. */
export async function transact<T>(db: PgConnection, begin: string, work: () => Promise<T>): Promise<T> {
  const begun = db.script(begin);
  const [start, result] = await Promise.allSettled([begun, work()]);
  if (start.status === 'fulfilled' && result.status === 'fulfilled') {
    await db.script('COMMIT');
    return result.value;
  }
  if (db.lost === null) await db.script('ROLLBACK').catch(() => {});
  throw start.status === 'rejected' ? start.reason : (result as PromiseRejectedResult).reason;
}

export interface Scope {
  readonly db: PgConnection;
  /** This gateway's row in `node`. */
  readonly node: number;
  /** Sends a statement whose result is not needed, without waiting. If it fails, so does the transaction. */
  readonly send: (sql: string, values: readonly PgValue[]) => void;
}

export interface OpenScope {
  readonly scope: Scope;
  /**
   * Waits for `last` and for everything sent; resolves like `last`. Rejects with the first failure, because later ones only
   * say that the transaction has failed.
   */
  readonly settle: <T>(last: Promise<T>) => Promise<T>;
}

/** Opens the scope of one transaction. */
export function openScope(db: PgConnection, node: number): OpenScope {
  const sent: Promise<unknown>[] = [];
  const send: Scope['send'] = (sql, values) => {
    const change = db.change(sql, values);
    // `settle` reports the failure.
    change.catch(() => {});
    sent.push(change);
  };
  return {
    scope: { db, node, send },
    async settle(last) {
      const [result] = await Promise.allSettled([last]);
      await allOf(sent);
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    },
  };
}

/** Waits for all; then rejects with the first failure, because later ones only say that the transaction has failed. */
export async function allOf(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Connections other than the writer's, opened when they are first needed. Each query is its own transaction. */
export type Statement = readonly [sql: string, ...values: readonly PgValue[]];

/** Runs the statements in one transaction; resolves to the rows of each. Rejects with StoreUnavailable. */
export type AskSnapshot = <Rows extends readonly unknown[] = readonly (readonly object[])[]>(
  ...statements: readonly Statement[]
) => Promise<Rows>;

export type PgQueries = {
  readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>) => Promise<QueryResults[K]>;
};

export class SnapshotReader {
  private readonly connect: () => Promise<PgConnection>;
  private readonly begin: string;
  private opening: Promise<PgConnection> | null = null;
  private closed = false;

  /** @param begin the first statements of each transaction */
  constructor(connect: () => Promise<PgConnection>, begin: string) {
    this.connect = connect;
    this.begin = begin;
  }

  readonly ask: AskSnapshot = async (...statements) => {
    try {
      const db = await this.open();
      // Sent without waiting in between, so that another query cannot interleave.
      const sent = [
        db.script(this.begin),
        ...statements.map(([sql, ...values]) => db.query(sql, values)),
        db.script('COMMIT'),
      ];
      const [, ...rows] = await Promise.all(sent);
      return rows.slice(0, -1) as never;
    } catch (error) {
      throw new StoreUnavailable(`cannot query the database: ${describePgError(error)}`);
    }
  };

  /** Opens the connection, or opens it again when it was lost. Rejects when that fails. */
  async open(): Promise<PgConnection> {
    if (this.closed) throw new StoreUnavailable('the store is closed');
    const opened = await this.opening?.catch(() => null);
    if (opened != null && opened.lost === null) return opened;
    if (opened != null) void opened.close().catch(() => {});
    this.opening = this.connect();
    return this.opening;
  }

  async close(): Promise<void> {
    this.closed = true;
    const opened = await this.opening?.catch(() => null);
    await opened?.close().catch(() => {});
  }
}
