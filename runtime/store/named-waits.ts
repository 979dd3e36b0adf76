/** What a gateway knows of waiting runs besides the store: those of paused routes, and of agents that have as many runs as they may. */
import { laneKey, runLane } from './identity.ts';
import type { PausedRoute } from './pauses.ts';
import { pausedRoutes } from './pauses.ts';
import type { DispatchSummary, Query, QueryKind, QueryResults } from './queries.ts';
import type { Store } from './store.ts';
import { wrapStore } from './store.ts';
import { AgentRoom } from './unit/agent-room.ts';
import type { StoredWaits, Wait } from './waits.ts';
import type { AgentLimit } from './work-mutations.ts';

/** How many runs wait, by what for. */
export type WaitCounts = Pick<StoredWaits, 'session' | 'sessions'> & { readonly agent: number };

/** What a gateway knows as of `now` (Unix ms). */
interface Known {
  readonly now: number;
  readonly paused: readonly PausedRoute[];
  readonly waits: StoredWaits;
  readonly room: AgentRoom;
}

/** A store that tells of each run in its lists what the gateway holds it up for; and the counts. */
export interface NamedWaits {
  readonly store: Store;
  readonly counts: () => Promise<WaitCounts>;
}

/** @param now Unix ms @param agents those with a limit of runs at once */
export function namedWaits(store: Store, now: () => number, agents: () => readonly AgentLimit[]): NamedWaits {
  const know = async (): Promise<Known> => {
    const at = now();
    const [rows, waits] = await Promise.all([
      store.read({ kind: 'guard_rows', of: 'pause' }),
      store.read({ kind: 'waits', now: at }),
    ]);
    return { now: at, paused: pausedRoutes(rows, at), waits, room: new AgentRoom(agents(), waits.running) };
  };
  return {
    store: wrapStore(store, {
      async read(query) {
        const result = await store.read(query);
        const ready = rowsIn(query.kind, result).filter(({ ready_at }) => ready_at !== null);
        if (ready.length > 0) nameHeld(ready, await know());
        return result;
      },
    }),
    async counts() {
      const { waits, room, paused } = await know();
      const held = new Set(paused.map(({ profile, route }) => laneKey(profile, route)));
      return { session: waits.session, sessions: waits.sessions, agent: room.countHeld(waits.due, held) };
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

/** Results of a query are the caller's own, so their rows are completed in place. */
function nameHeld(rows: readonly DispatchSummary[], { now, paused, room }: Known): void {
  for (const row of rows) {
    const { profile, route, agent, ready_at } = row;
    if (ready_at === null || ready_at > now) continue;
    const pause = paused.find((one) => one.profile === profile && one.route === route);
    const held: Pick<Wait, 'waits_for' | 'waits_since'> | null =
      pause !== undefined
        ? { waits_for: 'pause', waits_since: Math.max(pause.since, ready_at) }
        : room.of(runLane(profile, route, agent)) <= 0
          ? { waits_for: 'agent', waits_since: ready_at }
          : null;
    if (held !== null) Object.assign(row, held);
  }
}
