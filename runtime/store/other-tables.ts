/** Describes, for `/readyz` and the log, that gateways of one store serve different tables. */

/** Characters of a hash that are shown. */
const HASH_CHARS = 12;

/** Null when all gateways serve the same table. @param tables hashes of the tables that the other gateways serve */
export function describeOtherTables(own: string | null, tables: readonly string[]): string | null {
  const others = tables.filter((hash) => hash !== own).map((hash) => hash.slice(0, HASH_CHARS));
  if (others.length === 0) return null;
  return `other gateways serve another table: ${others.join(', ')}; this one: ${own?.slice(0, HASH_CHARS) ?? 'none'}`;
}
