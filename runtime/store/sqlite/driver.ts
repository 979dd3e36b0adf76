/**
 * The SQLite driver, and the little that the rest of this repository uses of it: the only file that names the package.
 * docs/architecture.md ("The store") says when it is to be replaced.
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
  /** True between BEGIN and COMMIT or ROLLBACK; some errors roll back by themselves. */
  readonly inTransaction: boolean;
  exec(sql: string): void;
  query<R extends Row>(sql: string): RowQuery<R>;
  /** A statement that changes rows. @returns how many */
  change(sql: string): (...values: readonly Value[]) => number;
  close(): void;
}

export type Connect = (path: string, options: { readonly busyMs: number }) => Connection;

/** @throws Error with a code of SQLite's, as all that a connection does. */
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

/** The code of SQLite (`SQLITE_IOERR_FSYNC`) or of the system (`ENOSPC`); '' for an error of another kind. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export const isBusy = (error: unknown): boolean => errorCode(error).startsWith('SQLITE_BUSY');

/** The file's pages contradict each other, or are not a database's. */
export const isMalformed = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error));

/** Codes that speak of the statement or of its values, not of the medium. */
const STATEMENT_ERROR = /^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE)/;

/** The medium failed: it is full, read-only, gone, damaged, or in use. */
export function isMediumError(error: unknown): boolean {
  const code = errorCode(error);
  return code.startsWith('SQLITE_') ? !STATEMENT_ERROR.test(code) : /^E[A-Z]+$/.test(code);
}
