/** Compiled tables that travel to the gateways through their store. */

/** The files that `compile` writes, as texts. */
export interface TableFiles {
  readonly routes: string;
  readonly blueprints: string;
}

export interface SharedTable {
  readonly hash: string;
  /** Number of its routes. */
  readonly routes: number;
  /** UTC instant, RFC 3339. */
  readonly pushed_at: string;
}

/** All reject with StoreUnavailable. */
export interface SharedTables {
  /** Only the newest are kept, and the active one. @returns false when it was there */
  push(table: Pick<SharedTable, 'hash' | 'routes'>, files: TableFiles): Promise<boolean>;
  /** The newest first. */
  list(): Promise<readonly SharedTable[]>;
  /** Null: it is not there. */
  load(hash: string): Promise<TableFiles | null>;
}

/** Name of the shared document that holds the hash of the table to be served. */
export const ACTIVE_TABLE = 'table';
