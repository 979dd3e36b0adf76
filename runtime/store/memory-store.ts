/** A store that forgets with its process: the model the durable one is tested against, and the benchmark's yardstick. */
import { createMemoryHandlers } from './memory/handlers.ts';
import { MemoryJobs } from './memory/jobs.ts';
import { createMemoryReader } from './memory/reader.ts';
import { createTables, insert, isFree, takeClaim } from './memory/tables.ts';
import { applyMutation } from './mutations.ts';
import type { Store } from './store.ts';

/** @param keep how many dispatches that have ended it keeps; older ones are forgotten, as retention would. */
export function createMemoryStore(keep = Number.POSITIVE_INFINITY): Store {
  const tables = createTables(keep);
  const jobs = new MemoryJobs({
    insert: (dispatch, now) => insert(tables, { dispatch, max_concurrent: null }, 'pending', now).ref,
    toInbox: (ref) => void tables.inbox.add(ref),
    claim: (claim, now) => takeClaim(tables, claim, now),
    isClaimed: (claim, now) => !isFree(tables, claim, now),
    stateOf: (ref) => tables.kept.get(ref)?.state ?? null,
  });
  const handlers = { ...createMemoryHandlers(tables), ...jobs.handlers };
  return {
    ...createMemoryReader(tables),
    jobs,
    isKnownClaimed: (claim, now) => tables.claims.holds(claim, now),
    settle: () => Promise.resolve(),
    write: (mutation) => Promise.resolve(applyMutation(handlers, mutation)),
    close: () => Promise.resolve(),
  };
}
