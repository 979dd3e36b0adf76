/** The agents of a profile, and what they limit. */

interface Agents<Plan> {
  /** The default one. */
  readonly agent: Plan;
  readonly agents: Readonly<Record<string, Plan>>;
}

/** @param name null: the default agent. Null when the profile has none of that name. */
export function agentPlan<Plan>({ agent, agents }: Agents<Plan>, name: string | null): Plan | null {
  if (name === null) return agent;
  return Object.hasOwn(agents, name) ? (agents[name] ?? null) : null;
}

/** All agents of a profile; the name of the default one is null. */
export const agentPlans = <Plan>({ agent, agents }: Agents<Plan>): readonly (readonly [string | null, Plan])[] => [
  [null, agent],
  ...Object.entries(agents),
];

/** The toolsets that a run of the agent gets, in their order. An unknown agent limits nothing. */
export function agentToolsets(
  toolsets: readonly string[],
  profile: Agents<{ readonly toolsets: readonly string[] | null }> | null | undefined,
  name: string | null,
): string[] {
  const most = profile === null || profile === undefined ? null : (agentPlan(profile, name)?.toolsets ?? null);
  return most === null ? [...toolsets] : toolsets.filter((toolset) => most.includes(toolset));
}

/** `agent` or `agent <name>`, with the profile where there are several. */
export const agentLabel = (profile: string | null, name: string | null): string =>
  `agent${name === null ? '' : ` ${name}`}${profile === null ? '' : ` of profile ${profile}`}`;
