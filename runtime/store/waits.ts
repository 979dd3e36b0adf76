/** What runs and deliveries wait for, and since when. Both engines and the gateway use only these definitions. */
import type { DispatchSummary } from '../../schemas/built/operations/types.ts';
import type { DispatchState } from './states.ts';

/**
 * The column `blocked_by`. Of a pending run: `session`, an earlier run of its session. Of a running one: `newer`, an
 * event that replaces it unless it answers. Of a delivery: `approval`, a person.
 */
export const BLOCKED_BY = ['session', 'newer', 'approval'] as const;
export type BlockedBy = (typeof BLOCKED_BY)[number];

/** The gateway also holds back runs: their route is paused, or all runs of their agent are in use (named-waits.ts). */
type Blocker = BlockedBy | 'pause' | 'agent';

/** `ready_at`: null if it is blocked. */
export type Wait = Pick<DispatchSummary, 'waits_for' | 'waits_since' | 'ready_at'>;

export type { LaneCount, StoredWaits } from '../../schemas/built/operations/types.ts';

/** The columns that determine what a dispatch waits for. Times are Unix ms. */
export interface WaitColumns {
  readonly state: DispatchState;
  readonly accepted_at: number | null;
  /** Of its run, or of its blocked deliveries. */
  readonly blocked_by: Blocker | null;
  /** As in a `WorkRow`; null: its work has ended. */
  readonly due_at: number | null;
  readonly set_at: number | null;
  /** Since when a delivery is blocked, or its run is held back; null: neither is. */
  readonly blocked_at: number | null;
}

/** SQL: true if the delivery `x` is blocked. If a person has refused it, it is due since that instant. */
export const IS_BLOCKED = 'x.blocked_by IS NOT NULL AND x.due_at > x.set_at AND x.holder IS NULL';

const ofDeliveries = (column: string): string =>
  `(SELECT min(x.${column}) FROM delivery x WHERE x.ref = d.ref AND ${IS_BLOCKED})`;

/** SQL: `WaitColumns`, of the tables `dispatch d` and `work w`, without the columns that lists have anyway. */
export const WAIT_COLUMNS: readonly string[] = [
  `coalesce(w.blocked_by, ${ofDeliveries('blocked_by')}) AS blocked_by`,
  'w.due_at',
  'w.set_at',
  `${ofDeliveries('set_at')} AS blocked_at`,
];

/** Names what a dispatch waits for: the only function that does. */
export function waitOf({ state, accepted_at, blocked_by, due_at, set_at, blocked_at }: WaitColumns): Wait {
  if (blocked_by !== null && blocked_by !== 'newer' && (state === 'pending' || blocked_at !== null))
    return { waits_for: blocked_by, waits_since: blocked_at ?? accepted_at, ready_at: null };
  const ready_at = state === 'pending' ? Math.max(due_at ?? 0, set_at ?? 0) : null;
  return { waits_for: null, waits_since: null, ready_at };
}

/** SQL: `session` and `sessions`. */
export const COUNT_SESSIONS =
  "SELECT count(*) FILTER (WHERE blocked_by = 'session') AS session, count(DISTINCT session) AS sessions " +
  'FROM work WHERE session IS NOT NULL';
/** SQL: `due`. @param now the parameter with the instant at which runs are due */
export const countDue = (now: '?' | '$1'): string =>
  `SELECT lane, count(*) AS count FROM work WHERE state = 'pending' AND blocked_by IS NULL AND due_at <= ${now} GROUP BY lane`;
/** SQL: `running`. Selects by `holder`, which every running row has, because it has an index. */
export const COUNT_RUNNING =
  "SELECT lane, count(*) AS count FROM work WHERE holder IS NOT NULL AND state = 'running' GROUP BY lane";
