/** Reads the state of work and store for `gateway status` and metrics, even while the store cannot be read. */
import type { DispatchStatus, WorkStatus } from './control/operations.ts';
import type { DispatchCounts } from './dispatch/dispatch-service.ts';
import type { LiveFigures } from './metrics/metrics.ts';
import type { Clock } from './platform/clock.ts';
import type { StoreOverview } from './store/queries.ts';
import type { DispatchState } from './store/states.ts';
import { DISPATCH_STATES } from './store/states.ts';
import type { Store } from './store/store.ts';
import { StoreUnavailable } from './store/store.ts';

export interface FigureSources {
  readonly store: Store;
  readonly counts: () => Promise<DispatchCounts>;
  readonly clock: Clock;
}

/** The status of all work. When the store cannot be read, it only has the store's problem. */
export async function readStatus(sources: FigureSources): Promise<WorkStatus> {
  const { store, counts, clock } = sources;
  try {
    const [{ runs_active, runs_queued }, overview] = await Promise.all([counts(), overviewOf(sources)]);
    const { damage, bytes } = overview;
    return {
      runs: { active: runs_active, queued: runs_queued },
      dispatches: dispatchStatus(overview),
      store: { problem: store.problem(), damage, bytes },
    };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const unreadable = { kind: 'unreadable', message: error.message, since: clock.now() } as const;
    return {
      runs: null,
      dispatches: null,
      store: { problem: store.problem() ?? unreadable, damage: null, bytes: 0 },
    };
  }
}

/** Figures for metrics. When the store cannot be read, `stored` is null. */
export async function readFigures(sources: FigureSources): Promise<Pick<LiveFigures, 'storeUp' | 'stored'>> {
  const { store, counts, clock } = sources;
  const storeUp = store.problem() === null;
  try {
    const [work, { tallies, oldest_open_at }] = await Promise.all([counts(), overviewOf(sources)]);
    const age = oldest_open_at === null ? 0 : clock.now() - oldest_open_at;
    return { storeUp, stored: { work: { ...work }, tallies, oldestOpenSeconds: Math.max(0, age) / 1000 } };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { storeUp: false, stored: null };
  }
}

const overviewOf = ({ store, clock }: FigureSources): Promise<StoreOverview> =>
  store.read({ kind: 'overview', now: clock.now() });

function dispatchStatus({ tallies, oldest_open_at, last_error }: StoreOverview): DispatchStatus {
  const count = (state: DispatchState) => [state, tallies.reduce((sum, tally) => sum + tally[state], 0)] as const;
  const states = Object.fromEntries(DISPATCH_STATES.map(count)) as DispatchStatus['states'];
  return { states, oldest_open_at, last_error };
}
