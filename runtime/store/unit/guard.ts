/** Replaces rows of the guard, and counts the room that agents have. */

import type { AgentLimit } from '../contract.ts';
import type { Headed, LargeTexts } from '../group-commit.ts';
import type { PutGuard } from '../records.ts';
import { laneKey, laneParts } from '../records.ts';
import type { LaneCount } from '../waits.ts';
import type { WorkUnit } from './unit.ts';

/** Replaces a row that is still as expected; false if it is not. */
export function putGuard(unit: WorkUnit, m: Headed<PutGuard>, texts: LargeTexts): boolean {
  const { row, expect, body, expires_at, dispatch: head, now } = m;
  if ((unit.guardRow(row) ?? null) !== expect) return false;
  unit.putGuardRow({ ...row, body }, expires_at);
  if (head !== null) unit.insertMessage(head, texts, now);
  return true;
}

/** How many runs of the agents that have a limit may begin, for `take_work`, and for what is said of the others. */
export class AgentRoom {
  private readonly left = new Map<string, number>();

  /** @param running the runs under way of each lane */
  constructor(limits: readonly AgentLimit[], running: readonly LaneCount[]) {
    for (const { profile, agent, max_concurrent } of limits) this.left.set(laneKey(profile, agent), max_concurrent);
    for (const { lane, count } of running) this.use(lane, count);
  }

  /** Infinite for an agent without a limit; 0 or less: none. */
  of(lane: string): number {
    return this.left.get(agentOf(lane)) ?? Number.POSITIVE_INFINITY;
  }

  use(lane: string, count: number): void {
    const agent = agentOf(lane);
    const left = this.left.get(agent);
    if (left !== undefined) this.left.set(agent, left - count);
  }
}

/** The name of a lane's agent, for a profile. */
export function agentOf(lane: string): string {
  const { profile, agent } = laneParts(lane);
  return laneKey(profile, agent);
}
