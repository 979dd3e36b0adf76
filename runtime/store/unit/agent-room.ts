/** How many runs of the agents that have a limit may begin, for the engines' `take_work`. */
import { laneKey, laneParts, routeLane } from '../identity.ts';
import type { HoldOf } from '../listed-rows.ts';
import type { KnownNow } from '../queries.ts';
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

/** What holds up a pending run. @param running the runs under way of each lane */
export function findHolds(
  known: KnownNow | undefined,
  running: () => readonly (readonly [lane: string, count: number])[],
): HoldOf {
  if (known === undefined) return () => null;
  const { now, agents, paused } = known;
  const pauses = new Map(paused.map(({ profile, route, since }) => [laneKey(profile, route), since]));
  const room = agents.length === 0 ? null : new AgentRoom(agents, running());
  return ({ lane, due_at }) => {
    if (lane === null || due_at === null || due_at > now) return null;
    const since = pauses.get(routeLane(lane));
    if (since !== undefined) return { by: 'pause', since: Math.max(since, due_at) };
    return room !== null && room.of(lane) <= 0 ? { by: 'agent', since: due_at } : null;
  };
}

/** The name of a lane's agent, for a profile. */
export function agentOf(lane: string): string {
  const { profile, agent } = laneParts(lane);
  return laneKey(profile, agent);
}
