/** Describes, for `/readyz` and the log, that the gateways sharing a store serve different tables. */

/** So much of a hash tells tables apart. */
const HASH_CHARS = 12;

/** @param tables hashes of what the other gateways serve. @returns null: nothing else than this one */
export function describeOtherTables(own: string | null, tables: readonly string[]): string | null {
  const others = tables.filter((hash) => hash !== own).map((hash) => hash.slice(0, HASH_CHARS));
  if (others.length === 0) return null;
  return `other gateways serve another table: ${others.join(', ')}; this one: ${own?.slice(0, HASH_CHARS) ?? 'none'}`;
}
