/**
 * Wraps a store that may be unavailable while its gateway runs: `gateway status` and metrics then use the latest overview
 * that was read, and `problem()` tells why there is no newer one.
 */
import type { Query, QueryResults, StoreOverview } from '../../../runtime/store/queries.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';

const NOTHING_READ: StoreOverview = {
  tallies: [],
  backlog: { runs: 0, deliveries: 0, deliveries_delayed: 0, groups: 0 },
  oldest_open_at: null,
  last_error: null,
  bytes: 0,
  damage: null,
};

export function keepLatestOverview(store: Store): Store {
  let latest = NOTHING_READ;
  const readOverview = async (query: Query): Promise<StoreOverview> => {
    if (store.problem() !== null) return latest;
    try {
      latest = (await store.read(query)) as StoreOverview;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    return latest;
  };
  return {
    write: (mutation) => store.write(mutation),
    async read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]> {
      return query.kind === 'overview' ? ((await readOverview(query)) as QueryResults[Q['kind']]) : store.read(query);
    },
    problem: () => store.problem(),
    shared: store.shared,
    state: store.state,
    close: () => store.close(),
  };
}
