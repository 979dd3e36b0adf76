/** How many runs of the agents that have a limit may begin, for the engines' `take_work`. */
import { laneKey, laneParts } from '../identity.ts';
import type { AgentsNow } from '../queries.ts';
import type { AgentLimit } from '../work-mutations.ts';

export class AgentRoom {
  private readonly left = new Map<string, number>();

  /** @param running the runs under way of each lane */
  constructor(limits: readonly AgentLimit[], running: readonly (readonly [lane: string, count: number])[]) {
    for (const { profile, agent, max_concurrent } of limits) this.left.set(laneKey(profile, agent), max_concurrent);
    for (const [lane, count] of running) this.use(lane, count);
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

type Waiting = { readonly lane: string | null; readonly due_at: number | null };

/** Whether a pending run waits for the others of its agent. @param running the runs under way of each lane */
export function findHeldUp(
  known: AgentsNow | undefined,
  running: () => readonly (readonly [lane: string, count: number])[],
): (row: Waiting) => boolean {
  if (known === undefined || known.agents.length === 0) return () => false;
  const room = new AgentRoom(known.agents, running());
  return ({ lane, due_at }) => lane !== null && due_at !== null && due_at <= known.now && room.of(lane) <= 0;
}

/** The name of a lane's agent, for a profile. */
export function agentOf(lane: string): string {
  const { profile, agent } = laneParts(lane);
  return laneKey(profile, agent);
}
