/** Retention in the store in memory. */
import type { Cleanup, ExpireClaims, MutationResults, Trim } from '../../../runtime/store/contract.ts';
import { isFinal } from '../../../runtime/store/states.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DispatchRow, MemoryTables } from './tables.ts';
import { tallyOf } from './tables.ts';

export function retentionHandlers(tables: MemoryTables): Pick<MutationHandlers, 'expire_claims' | 'cleanup' | 'trim'> {
  return {
    expire_claims: (m) => expire(tables, m),
    cleanup: (m) => cleanup(tables, m),
    trim: (m) => trim(tables, m),
  };
}

const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function expire(
  { claims, guard }: MemoryTables,
  { now, after, limit }: ExpireClaims,
): MutationResults['expire_claims'] {
  for (const [name, { expires_at }] of guard) if (expires_at !== null && expires_at <= now) guard.delete(name);
  // In the order of their bytes.
  const sorted = [...claims].sort(([a], [b]) => compareBytes(a, b));
  const slice = sorted.filter(([key]) => compareBytes(key, after) > 0).slice(0, limit);
  const expired = slice.filter(([, expires_at]) => expires_at <= now);
  for (const [key] of expired) claims.delete(key);
  return { removed: expired.length, next: slice.length === limit ? (slice.at(-1)?.[0] ?? null) : null };
}

function cleanup(tables: MemoryTables, { before, after, limit }: Cleanup): MutationResults['cleanup'] {
  const rows = [...tables.dispatches.values()].filter(({ ref }) => ref > after && ref < tables.last);
  const slice = rows.slice(0, limit);
  const old = slice.filter(({ state, finished_at }) => isFinal(state) && (finished_at ?? before) < before);
  for (const row of old) remove(tables, row);
  return { removed: old.length, next: slice.length === limit ? (slice.at(-1)?.ref ?? null) : null };
}

function trim(tables: MemoryTables, { max_bytes, limit }: Trim): MutationResults['trim'] {
  let removed = 0;
  for (const row of [...tables.dispatches.values()]) {
    if (removed >= limit || sizeOf(tables) <= max_bytes) break;
    if (!isFinal(row.state) || row.ref === tables.last) continue;
    remove(tables, row);
    removed++;
  }
  return { removed, bytes: sizeOf(tables) };
}

function remove(tables: MemoryTables, row: DispatchRow): void {
  tables.dispatches.delete(row.ref);
  for (const [key, { ref }] of tables.messages) if (ref === row.ref) tables.messages.delete(key);
  tallyOf(tables, row).removed++;
}

/** The size of the texts, which is most of the total. */
export function sizeOf({ dispatches }: MemoryTables): number {
  return [...dispatches.values()].reduce((sum, row) => sum + JSON.stringify(row).length, 0);
}
