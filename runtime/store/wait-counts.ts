/** Counts what runs wait for, from the counts of each lane. */
import type { HoldOf } from './listed-rows.ts';
import type { WaitCounts } from './queries.ts';

/** The stored reason of a run that waits for its budget. */
export const FOR_BUDGET = JSON.stringify('budget');

/** Runs of a lane that wait for no session: those that wait for a budget, and the others that are due. */
export interface LaneWaits {
  readonly lane: string;
  readonly budget: number;
  readonly due: number;
}

export type SessionCounts = Pick<WaitCounts, 'session' | 'sessions'>;

/** SQL: these counts. */
export const COUNT_SESSIONS =
  'SELECT count(*) FILTER (WHERE w.waits_for IS NOT NULL) AS session, count(DISTINCT w.session) AS sessions ' +
  'FROM work w JOIN dispatch d USING (ref) WHERE w.session IS NOT NULL AND d.session IS NOT NULL';

/** SQL: a `LaneWaits` for each lane. @param now the parameter with the instant at which they are due */
export const countLaneWaits = (now: '?' | '$1'): string =>
  `SELECT lane, count(*) FILTER (WHERE reason = '${FOR_BUDGET}') AS budget, ` +
  `count(*) FILTER (WHERE due_at <= ${now} AND reason IS DISTINCT FROM '${FOR_BUDGET}') AS due ` +
  "FROM work WHERE state = 'pending' AND waits_for IS NULL GROUP BY lane";

/** @param now Unix ms at which `due` were due */
export function countWaits(turns: SessionCounts, lanes: readonly LaneWaits[], holdOf: HoldOf, now: number): WaitCounts {
  const agent = lanes
    .filter(({ lane }) => holdOf({ lane, due_at: now })?.by === 'agent')
    .reduce((sum, { due }) => sum + due, 0);
  return { ...turns, agent, budget: lanes.reduce((sum, { budget }) => sum + budget, 0) };
}
