/** What runs wait for, and since when. Both engines use only these definitions. */
import type { DeliverySummary } from '../../schemas/built/operations/types.ts';
import type { DispatchState } from './states.ts';

/** What blocks a pending run: `session`, an earlier run of its session. */
export const BLOCKED_BY = ['session'] as const;
export type BlockedBy = (typeof BLOCKED_BY)[number];

/** The reasons `pause` and `agent` are added by gateways (named-waits.ts). Times are Unix ms. */
export interface Wait extends Pick<DeliverySummary, 'waits_for' | 'waits_since'> {
  /**
   * The instant from which the store allows a run to be taken: its due time, or when its turn came. Null: it does not
   * wait, or is blocked.
   */
  readonly ready_at: number | null;
}

/** The columns that determine what a dispatch waits for. Times are Unix ms. */
export interface WaitColumns {
  readonly state: DispatchState;
  readonly accepted_at: number | null;
  readonly blocked_by: BlockedBy | null;
  /** As in a `WorkRow`; null: its work has ended. */
  readonly due_at: number | null;
  readonly set_at: number | null;
  /** Since when a delivery waits for approval; null: none does. */
  readonly asked_at: number | null;
}

type OfWork = Exclude<keyof WaitColumns, 'state' | 'accepted_at' | 'asked_at'>;
/** SQL: the columns of the table `work w`. */
export const WAIT_COLUMNS = Object.keys({
  blocked_by: true,
  due_at: true,
  set_at: true,
} satisfies Record<OfWork, true>).map((name) => `w.${name}`);

/** What a dispatch waits for, as far as the store knows. */
export function waitOf({ state, accepted_at, blocked_by, due_at, set_at, asked_at }: WaitColumns): Wait {
  if (asked_at !== null) return { waits_for: 'approval', waits_since: asked_at, ready_at: null };
  if (state !== 'pending') return { waits_for: null, waits_since: null, ready_at: null };
  if (blocked_by !== null) return { waits_for: blocked_by, waits_since: accepted_at, ready_at: null };
  return { waits_for: null, waits_since: null, ready_at: Math.max(due_at ?? 0, set_at ?? 0) };
}

/** The number of runs of a lane. */
export interface LaneCount {
  readonly lane: string;
  readonly count: number;
}

/** Counts over all processes. */
export interface StoredWaits {
  /** Runs that wait for an earlier one of their session. */
  readonly session: number;
  /** Sessions with a run that waits or is running. */
  readonly sessions: number;
  /** Runs that are due and not blocked, and running ones. */
  readonly due: readonly LaneCount[];
  readonly running: readonly LaneCount[];
}

/** SQL: `session` and `sessions`. */
export const COUNT_SESSIONS =
  'SELECT count(blocked_by) AS session, count(DISTINCT session) AS sessions FROM work WHERE session IS NOT NULL';
/** SQL: `due`. @param now the parameter with the instant at which runs are due */
export const countDue = (now: '?' | '$1'): string =>
  `SELECT lane, count(*) AS count FROM work WHERE state = 'pending' AND blocked_by IS NULL AND due_at <= ${now} GROUP BY lane`;
/** SQL: `running`. Selects by `holder`, which every running row has, because it has an index. */
export const COUNT_RUNNING =
  "SELECT lane, count(*) AS count FROM work WHERE holder IS NOT NULL AND state = 'running' GROUP BY lane";
