/** What gateways share through their store besides work: texts, and which table each serves. */

export interface SharedDocument {
  /** 0 when there is none yet. */
  readonly version: number;
  readonly text: string;
}

/** All reject with StoreUnavailable. */
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
