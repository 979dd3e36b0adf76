/** Connections other than the writer's, opened when they are first needed. Each query is its own transaction. */
import type { Query, QueryKind, QueryResults } from '../../../../runtime/store/queries.ts';
import { StoreUnavailable } from '../../../../runtime/store/store.ts';
import type { PgConnection, PgValue } from './driver.ts';
import { describePgError } from './driver.ts';

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
      throw new StoreUnavailable(`the database cannot be asked: ${describePgError(error)}`);
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
