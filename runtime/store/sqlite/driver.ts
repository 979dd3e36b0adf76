/**
 * The interface to the SQLite driver, and the only file that imports the package. docs/store.md ("The driver") says why
 * this driver is used, and when to replace it. The package has the interface of `node:sqlite`.
 */
import { DatabaseSync } from '@photostructure/sqlite';
import { BY_MESSAGE, EXTENDED, NAMES } from './built/result-codes.ts';

export type Value = string | number | null | Uint8Array;
export type Row = readonly (string | number | null | Uint8Array)[];

/** A statement that returns rows, as arrays of their columns. A number beyond 2^53 loses its last digits. */
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
  const db = coded(() => new DatabaseSync(path, { timeout: busyMs }));
  return {
    get inTransaction() {
      return db.isTransaction;
    },
    exec: (sql) => coded(() => db.exec(sql)),
    query<R extends Row>(sql: string): RowQuery<R> {
      const statement = coded(() => db.prepare(sql));
      statement.setReturnArrays(true);
      // The driver returns no row at all if one of its numbers is beyond 2^53.
      const read = <T>(ask: () => T, round: (result: T) => T): T => {
        try {
          return coded(ask);
        } catch (error) {
          if (!isTooLarge(error)) throw error;
          statement.setReadBigInts(true);
          try {
            return round(coded(ask));
          } finally {
            statement.setReadBigInts(false);
          }
        }
      };
      return {
        get: (...values) =>
          read(
            () => statement.get(...values) as R | undefined,
            (row) => row && rounded(row),
          ),
        all: (...values) =>
          read(
            () => statement.all(...values) as unknown as R[],
            (rows) => rows.map(rounded),
          ),
      };
    },
    change(sql) {
      const statement = coded(() => db.prepare(sql));
      return (...values) => Number(coded(() => statement.run(...values)).changes);
    },
    close: () => coded(() => db.close()),
  };
};

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && /too large to be represented/.test(error.message);

const rounded = <R extends Row>(row: R): R =>
  row.map((value: unknown) => (typeof value === 'bigint' ? Number(value) : value)) as unknown as R;

const MESSAGES: ReadonlyMap<string, string> = new Map(Object.entries(BY_MESSAGE));
const CODES: ReadonlyMap<string, string> = new Map(Object.entries(EXTENDED));

/** Runs a call of the driver. An error of SQLite gets SQLite's name as its code. */
function coded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const number = 'errcode' in error ? Number(error.errcode) : null;
    const name =
      number === null ? MESSAGES.get(error.message) : (CODES.get(String(number)) ?? NAMES[number & 0xff] ?? number);
    throw name === undefined ? error : Object.assign(error, { code: `SQLITE_${name}` });
  }
}

/** The code of SQLite (`SQLITE_IOERR_FSYNC`) or of the system (`ENOSPC`); '' for any other error. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export const isBusy = (error: unknown): boolean => errorCode(error).startsWith('SQLITE_BUSY');

/** True if the file's pages are inconsistent, or it is not a database. */
export const isMalformed = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error));

/** Codes of errors in the statement or its values, not in the medium. */
const STATEMENT_ERROR = /^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE)/;

/** True if the medium failed: it is full, read-only, missing, damaged, or in use. */
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
