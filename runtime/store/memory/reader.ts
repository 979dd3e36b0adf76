/** The queries of ../store.ts over the memory store's tables. */
import type { Ref } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import { isFinal } from '../states.ts';
import type { DispatchSummary, ListQuery, OpenDispatch, StoredDispatch, StoreReader } from '../store.ts';
import { auditTally } from '../tally.ts';
import type { Kept, MemoryTables } from './tables.ts';

export function createMemoryReader(tables: MemoryTables): Omit<StoreReader, 'jobs'> {
  const { kept, byId, groups, inbox, tallies } = tables;
  const load = (ref: Ref): StoredDispatch | null => {
    const found = kept.get(ref);
    if (found === undefined) return null;
    const { ready_at, tally, ...stored } = found;
    return stored;
  };
  return {
    isClaimed: (claim, now) => tables.claims.holds(claim, now),
    load,
    find: (id) => load(byId.get(id) ?? 0),
    open: (after, limit) => openAmong(tables, kept.keys(), after, limit),
    openOne: (ref) => openAmong(tables, [ref], 0, 1)[0] ?? null,
    last: () => tables.last,
    inbox: (limit) => [...inbox].slice(0, limit),
    groups: () =>
      [...groups.values()]
        .map((group) => ({ ...group, max_concurrent: kept.get(group.ref)?.max_concurrent ?? null }))
        .sort((a, b) => a.ref - b.ref),
    list: (query) => list(tables, query),
    tallies: () => [...tallies.values()].map((tally) => ({ ...tally })),
    oldestOpen() {
      for (const { state, accepted_at } of kept.values()) if (!isFinal(state)) return accepted_at;
      return null;
    },
    lastError: () => tables.failure,
    audit: () => audit(tables),
  };
}

function openAmong({ kept }: MemoryTables, refs: Iterable<Ref>, after: Ref, limit: number): readonly OpenDispatch[] {
  const found: OpenDispatch[] = [];
  for (const ref of refs) {
    const one = kept.get(ref);
    if (one === undefined || ref <= after || one.ready_at === null || isFinal(one.state)) continue;
    const { id, profile, route, mode, state, max_concurrent, ready_at } = one;
    found.push({ ref, id, profile, route, mode, state, max_concurrent, ready_at });
    if (found.length === limit) break;
  }
  return found;
}

function list({ kept }: MemoryTables, query: ListQuery): readonly DispatchSummary[] {
  const matches = ({ state, route, job, accepted_at, ref }: Kept): boolean =>
    (query.state === undefined || state === query.state) &&
    (query.route === undefined || route === query.route) &&
    (query.job === undefined || job === query.job) &&
    accepted_at >= (query.since ?? 0) &&
    ref < (query.before ?? Number.POSITIVE_INFINITY);
  return [...kept.values()]
    .filter(matches)
    .reverse()
    .slice(0, query.limit)
    .map(({ dispatch, max_concurrent, answer, steps, ready_at, tally, ...summary }) => summary);
}

function audit({ kept, tallies }: MemoryTables): readonly string[] {
  return [...tallies.values()].flatMap((tally) => {
    const stored: Partial<Record<DispatchState, number>> = {};
    for (const { profile, route, state } of kept.values()) {
      if (profile === tally.profile && route === tally.route) stored[state] = (stored[state] ?? 0) + 1;
    }
    return auditTally(tally, stored);
  });
}
