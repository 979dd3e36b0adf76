/** What gateways share through their store besides work: compiled tables, texts, and which table each serves. */

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
  /**
   * Stores a table, signed anew; only the newest ones and the active one are kept. Returns false when it was stored already.
   * Rejects with StoreRefused when it cannot be signed. @param privateKey to sign it with, as PEM; null: the shared key
   */
  push(table: Pick<SharedTable, 'hash' | 'routes'>, files: TableFiles, privateKey: string | null): Promise<boolean>;
  /** Newest first. */
  list(): Promise<readonly SharedTable[]>;
  /**
   * Null when there is no such table. Rejects with StoreRefused when its signature is not right.
   * @param use `sign`: it may be older than what was served, because it is to be signed anew
   */
  load(hash: string, use: 'serve' | 'sign'): Promise<TableFiles | null>;
}

/** Name of the shared document that holds the hash of the active table. */
export const ACTIVE_TABLE = 'table';

export interface SharedDocument {
  /** 0 when there is none yet. */
  readonly version: number;
  readonly text: string;
}

/** All reject with StoreUnavailable; `read` and `replace` with StoreRefused for signatures that are not right. */
export interface SharedDocuments {
  /** 0 when there is none yet. */
  version(name: string): Promise<number>;
  read(name: string): Promise<SharedDocument>;
  /** Replaces version `from`; returns false, and changes nothing, when that is no longer the current version. */
  replace(name: string, from: number, text: string): Promise<boolean>;
}

/** Characters of a hash that are shown. */
const HASH_CHARS = 12;

/** Null when all gateways serve the same table. @param tables hashes of the tables that the other gateways serve */
export function describeOtherTables(own: string | null, tables: readonly string[]): string | null {
  const others = tables.filter((hash) => hash !== own).map((hash) => hash.slice(0, HASH_CHARS));
  if (others.length === 0) return null;
  return `other gateways serve another table: ${others.join(', ')}; this one: ${own?.slice(0, HASH_CHARS) ?? 'none'}`;
}
