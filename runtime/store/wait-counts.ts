/** Counts what runs wait for, from the counts of each lane. */
import type { IsHeldUp } from './listed-rows.ts';
import type { WaitCounts } from './queries.ts';

/** The stored reason of a run that waits for its budget. */
export const FOR_BUDGET = JSON.stringify('budget');

/** Runs of a lane that wait for no session: those that wait for a budget, and the others that are due. */
export interface LaneWaits {
  readonly lane: string;
  readonly budget: number;
  readonly due: number;
}

/** @param now Unix ms at which `due` were due */
export function countWaits(
  turns: Pick<WaitCounts, 'session' | 'sessions'>,
  lanes: readonly LaneWaits[],
  isHeldUp: IsHeldUp,
  now: number,
): WaitCounts {
  const agent = lanes.filter(({ lane }) => isHeldUp({ lane, due_at: now })).reduce((sum, { due }) => sum + due, 0);
  return { ...turns, agent, budget: lanes.reduce((sum, { budget }) => sum + budget, 0) };
}
