/** Adds the wait reasons that only the gateway knows: paused routes, and agents at their limit of concurrent runs. */

import type { AgentLimit, Store } from './contract.ts';
import { wrapStore } from './contract.ts';
import type { DispatchSummary, Query, QueryKind, QueryResults } from './queries.ts';
import { laneKey, pausedRoutes, routeLane, runLane } from './records.ts';
import { AgentRoom } from './unit/agent-room.ts';
import type { LaneCount, StoredWaits, Wait } from './waits.ts';
import { waitOf } from './waits.ts';

/** The number of waiting runs by reason. */
export type WaitCounts = Pick<StoredWaits, 'session' | 'sessions'> & { readonly agent: number };

/** A store whose lists say why the gateway holds back each run; and the counts. */
export interface StoreWithWaitReasons {
  readonly store: Store;
  readonly counts: () => Promise<WaitCounts>;
}

/** @param now Unix ms @param agents those with a limit of concurrent runs */
export function withWaitReasons(
  store: Store,
  now: () => number,
  agents: () => readonly AgentLimit[],
): StoreWithWaitReasons {
  const gatewayState = async () => {
    const at = now();
    const [rows, waits] = await Promise.all([
      store.read({ kind: 'guard_rows', of: 'pause' }),
      store.read({ kind: 'waits', now: at }),
    ]);
    const paused = new Map(pausedRoutes(rows, at).map((one) => [laneKey(one.profile, one.route), one.since]));
    const room = new AgentRoom(agents(), waits.running);
    const reasonOf = ({ profile, route, agent, accepted_at, ready_at }: DispatchSummary): Partial<Wait> => {
      if (ready_at === null || ready_at > at) return {};
      const since = paused.get(laneKey(profile, route));
      if (since === undefined && room.of(runLane(profile, route, agent)) > 0) return {};
      const blocked_by = since === undefined ? 'agent' : 'pause';
      const blocked_at = Math.max(since ?? 0, ready_at);
      return waitOf({ state: 'pending', accepted_at, blocked_by, blocked_at, due_at: null, set_at: null });
    };
    const byAgent = ({ lane }: LaneCount): boolean => room.of(lane) <= 0 && !paused.has(routeLane(lane));
    return { waits, reasonOf, byAgent };
  };
  const read: Store['read'] = async (query) => {
    const result = await store.read(query);
    const ready = rowsIn(query.kind, result).filter(({ ready_at }) => ready_at !== null);
    const { reasonOf } = ready.length === 0 ? { reasonOf: () => ({}) } : await gatewayState();
    // Results of a query are the caller's own, so their rows are completed in place.
    for (const row of ready) Object.assign(row, reasonOf(row));
    return result;
  };
  return {
    store: wrapStore(store, { read }),
    async counts() {
      const { waits, byAgent } = await gatewayState();
      const agent = waits.due.filter(byAgent).reduce((sum, { count }) => sum + count, 0);
      return { session: waits.session, sessions: waits.sessions, agent };
    },
  };
}

type Listing = 'list' | 'load' | 'find' | 'sessions';
const ROWS: { readonly [K in Listing]: (result: QueryResults[K]) => readonly DispatchSummary[] } = {
  list: (rows) => rows,
  load: (dispatch) => (dispatch === null ? [] : [dispatch]),
  find: (found) => (found.kind === 'found' ? [found.dispatch] : []),
  sessions: (busy) => busy.map(({ run }) => run),
};

const rowsIn = (kind: QueryKind, result: QueryResults[Query['kind']]): readonly DispatchSummary[] =>
  Object.hasOwn(ROWS, kind) ? ROWS[kind as Listing](result as never) : [];
