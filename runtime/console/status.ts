/** Reads the state of a service for `gateway status`, metrics and `/readyz`, even while the store cannot be read. */
import type {
  DispatchStatus,
  GatewayProblem,
  GatewayStatus,
  LastingAlert,
} from '../../schemas/built/operations/types.ts';
import type { DispatchCounts } from '../dispatch/dispatcher.ts';
import type { LiveFigures } from '../metrics/metrics.ts';
import type { Clock } from '../platform/clock.ts';
import type { Store } from '../store/contract.ts';
import { StoreUnavailable } from '../store/contract.ts';
import type { WaitCounts } from '../store/named-waits.ts';
import type { StoreOverview } from '../store/queries.ts';
import { pausedRoutes } from '../store/records.ts';
import { describeOtherTables } from '../store/shared.ts';
import type { ShownState } from '../store/states.ts';
import { SHOWN_STATES } from '../store/states.ts';
import type { Rejected } from '../table/subscriptions.ts';
import type { TableState } from '../table/tables.ts';

/** Work and store. When the store cannot be read, only its problem is known. */
type WorkStatus = Pick<GatewayStatus, 'runs' | 'dispatches' | 'paused' | 'store'>;

export interface ServingStatus {
  /** Null before `listen` and after `stop`. */
  readonly url: string | null;
  readonly state: 'serving' | 'draining';
  readonly table: TableState & { readonly routes: number };
  readonly subscriptions: {
    readonly serving: number;
    readonly quarantined: readonly Rejected[];
    readonly error: string | null;
  };
  /** Routes whose `rate_limit` has refused requests within the hour, as text. */
  readonly rate_limited: string[];
}

/**
 * The status of a service: what `hookwright gateway status` shows. Times are Unix ms.
 *
 * @example
 * ```ts
 * import type { ServiceStatus } from 'hookwright/runtime';
 *
 * const isHealthy = ({ state, table, store }: ServiceStatus): boolean =>
 *   state === 'serving' && table.error === null && store.problem === null;
 * ```
 */
export interface ServiceStatus extends ServingStatus, WorkStatus {
  /** URL of the console; null when there is none. */
  readonly console: string | null;
  /** Unix ms. */
  readonly startedAt: number;
  /** Active alerts. */
  readonly alerts: readonly LastingAlert[];
}

interface StatusSources {
  readonly store: Store;
  counts(): Promise<DispatchCounts>;
  countWaits(): Promise<WaitCounts>;
}

/** Reads the status of all work. When the store cannot be read, it contains only the store's problem. */
export async function readStatus(
  { store, counts }: Omit<StatusSources, 'countWaits'>,
  clock: Clock,
): Promise<WorkStatus> {
  const refused = store.shared?.refused() ?? [];
  try {
    const [{ runs_active, runs_queued }, overview, dead, paused] = await Promise.all([
      counts(),
      overviewOf(store, clock),
      store.read({ kind: 'dead_work' }),
      store.read({ kind: 'guard_rows', of: 'pause' }),
    ]);
    const { damage, bytes } = overview;
    return {
      runs: { active: runs_active, queued: runs_queued },
      dispatches: { ...dispatchStatus(overview), dead },
      paused: pausedRoutes(paused, clock.now()),
      store: { problem: store.problem(), damage, refused, bytes },
    };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const unreadable = { kind: 'unreadable', message: error.message, since: clock.now() } as const;
    return {
      runs: null,
      dispatches: null,
      paused: [],
      store: { problem: store.problem() ?? unreadable, damage: null, refused, bytes: 0 },
    };
  }
}

/** Reads the values for metrics. When the store cannot be read, `stored` is null. */
export async function readFigures(
  { store, counts, countWaits }: StatusSources,
  clock: Clock,
): Promise<Pick<LiveFigures, 'storeUp' | 'stored'>> {
  const storeUp = store.problem() === null;
  try {
    const [work, { tallies, oldest_open_at }, waits] = await Promise.all([
      counts(),
      overviewOf(store, clock),
      countWaits(),
    ]);
    const age = oldest_open_at === null ? 0 : clock.now() - oldest_open_at;
    return { storeUp, stored: { work: { ...work }, tallies, waits, oldestOpenSeconds: Math.max(0, age) / 1000 } };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { storeUp: false, stored: null };
  }
}

const overviewOf = (store: Store, clock: Clock): Promise<StoreOverview> =>
  store.read({ kind: 'overview', now: clock.now() });

function dispatchStatus({ tallies, oldest_open_at, last_error }: StoreOverview): Omit<DispatchStatus, 'dead'> {
  const count = (state: ShownState) => [state, tallies.reduce((sum, tally) => sum + tally[state], 0)] as const;
  const states = Object.fromEntries(SHOWN_STATES.map(count)) as DispatchStatus['states'];
  return { states, oldest_open_at, last_error };
}

/** The response to `/readyz`. */
export interface Readiness {
  readonly ready: boolean;
  readonly problems: readonly GatewayProblem[];
}

/** Whether this gateway accepts events, and its problems. */
export function readinessOf(serving: ServingStatus, store: Pick<Store, 'problem' | 'shared'>): Readiness {
  const { state, table, subscriptions, rate_limited } = serving;
  const { shared } = store;
  const problems = [
    { part: 'gateway', blocking: true, message: state === 'draining' ? 'stopping' : null } as const,
    { part: 'store', blocking: true, message: store.problem()?.message ?? null } as const,
    { part: 'table', blocking: false, message: table.error } as const,
    { part: 'table', blocking: false, message: describeOtherTables(table.hash, shared?.otherTables() ?? []) } as const,
    { part: 'subscriptions', blocking: false, message: subscriptions.error } as const,
    ...rate_limited.map((message) => ({ part: 'gateway', blocking: false, message }) as const),
    ...(shared?.refused() ?? []).map((message) => ({ part: 'store', blocking: false, message }) as const),
  ].flatMap(({ message, ...problem }) => (message === null ? [] : [{ ...problem, message }]));
  return { ready: !problems.some(({ blocking }) => blocking), problems };
}
