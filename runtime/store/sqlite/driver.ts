/**
 * The interface to the SQLite driver; the only file that imports the package. docs/architecture.md ("The store") has the
 * reasons for this driver, and when to replace it.
 */
import Database from 'libsql';

export type Value = string | number | null | Uint8Array;
export type Row = readonly (string | number | null | Buffer)[];

/** A statement that returns rows, as arrays of their columns. */
export interface RowQuery<R extends Row> {
  get(...values: readonly Value[]): R | undefined;
  all(...values: readonly Value[]): readonly R[];
}

export interface Connection {
  /** True between BEGIN and COMMIT or ROLLBACK; some errors roll back automatically. */
  readonly inTransaction: boolean;
  exec(sql: string): void;
  query<R extends Row>(sql: string): RowQuery<R>;
  /** A statement that changes rows; it returns their number. */
  change(sql: string): (...values: readonly Value[]) => number;
  close(): void;
}

export type Connect = (path: string, options: { readonly busyMs: number }) => Connection;

/** Opens a connection. It and all methods of the connection throw errors with SQLite's codes. */
export const connect: Connect = (path, { busyMs }) => {
  const db = new Database(path, { timeout: busyMs });
  return {
    get inTransaction() {
      return db.inTransaction;
    },
    exec: (sql) => void db.exec(sql),
    query<R extends Row>(sql: string): RowQuery<R> {
      const statement = db.prepare(sql).raw();
      return {
        get: (...values) => statement.get(values) as R | undefined,
        all: (...values) => statement.all(values) as unknown as readonly R[],
      };
    },
    change(sql) {
      const statement = db.prepare(sql);
      return (...values) => statement.run(values).changes;
    },
    close: () => void db.close(),
  };
};

/** The code of SQLite (`SQLITE_IOERR_FSYNC`) or of the system (`ENOSPC`); '' for any other error. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export const isBusy = (error: unknown): boolean => errorCode(error).startsWith('SQLITE_BUSY');

/** Whether the file's pages are inconsistent, or it is not a database. */
export const isMalformed = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error));

/** Codes of errors in the statement or its values, not in the medium. */
const STATEMENT_ERROR = /^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE)/;

/** Whether the medium failed: it is full, read-only, gone, damaged, or in use. */
export function isMediumError(error: unknown): boolean {
  const code = errorCode(error);
  return code.startsWith('SQLITE_') ? !STATEMENT_ERROR.test(code) : /^E[A-Z]+$/.test(code);
}

export function inTransaction(db: Connection, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
