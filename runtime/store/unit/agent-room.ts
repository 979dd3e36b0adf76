/** How many runs agents with a limit may begin: for what takes them, and for what says why others wait. */

import type { AgentLimit } from '../contract.ts';
import { laneKey, laneParts } from '../records.ts';
import type { LaneCount } from '../waits.ts';

export class AgentRoom {
  private readonly left = new Map<string, number>();

  /** @param running the running runs of each lane */
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
