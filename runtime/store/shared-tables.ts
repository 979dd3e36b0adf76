/** Compiled tables that are distributed to the gateways through their store. */

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
  /** Stores a table; only the newest ones and the active one are kept. Returns false when it was stored already. */
  push(table: Pick<SharedTable, 'hash' | 'routes'>, files: TableFiles): Promise<boolean>;
  /** Newest first. */
  list(): Promise<readonly SharedTable[]>;
  /** Null when there is no such table. */
  load(hash: string): Promise<TableFiles | null>;
}

/** Name of the shared document that holds the hash of the active table. */
export const ACTIVE_TABLE = 'table';
