/** Names that compiler and runtime must agree on. */
import { join } from 'node:path';

/** Names and folders of profiles. */
export const DEFAULT_PROFILE = 'default';
export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The folder of a profile; that of `default` is the home folder. */
export function profileHome(home: string, profile: string): string {
  return profile === DEFAULT_PROFILE ? home : join(home, 'profiles', profile);
}

/** The entry of a key that may be any text, such as `constructor`. */
export const own = <T>(map: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

interface Agents<Plan> {
  /** The default agent. */
  readonly agent: Plan;
  readonly agents: Readonly<Record<string, Plan>>;
}

/** @param name null: the default agent. @returns null if the profile has no agent of this name */
export function agentPlan<Plan>({ agent, agents }: Agents<Plan>, name: string | null): Plan | null {
  return name === null ? agent : (own(agents, name) ?? null);
}

/** All agents of a profile; the name of the default agent is null. */
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

/** `agent` or `agent <name>`, with the profile if there are several. */
export const agentLabel = (profile: string | null, name: string | null): string =>
  `agent${name === null ? '' : ` ${name}`}${profile === null ? '' : ` of profile ${profile}`}`;

const TITLES = {
  run_failed: 'runs fail',
  delivery_dead: 'deliveries failed permanently',
  job_missed: 'a job did not run',
  job_failed: 'a job fails',
  subscription_rejected: 'a subscription is rejected',
  store_unavailable: 'the store accepts no events',
  budget: 'a budget is used up',
  loop: 'a key is paused after too many runs',
  signature_failures: 'requests have no valid signature',
  rate_limited: 'a rate limit refuses events',
  config_rejected: 'the newest configuration is not in service',
  approval: 'messages wait for approval',
} as const;

/** Kinds of alerts, in the order of `gateway.alerts.on`. */
export const ALERT_KINDS = Object.keys(TITLES) as readonly (keyof typeof TITLES)[];

/** The kind of an alert in words. */
export const alertTitle = (kind: keyof typeof TITLES): string => TITLES[kind];

/** The value of `agent:` with which the prompt itself is the message. */
export const NO_AGENT = 'none';

/** The layout of a compiled table. The runtime serves no other format. */
export const TABLE_FORMAT = 2;

/** The content of targets that declare none. */
const TEXT_ONLY = [{ name: 'text', kind: 'text', required: true, help: 'The message.' }] as const;

/** The fields of a message to a target that an agent may fill. */
export const contentOf = <Field>({
  content,
}: {
  readonly content?: readonly Field[];
}): readonly (Field | (typeof TEXT_ONLY)[number])[] => content ?? TEXT_ONLY;

/**
 * `installation`: the id of this installation, key '', and the key of its status URLs, key 'status_key'. `alert`: an
 * active alert. `runs`: the latest runs of a session or coalesce key. `exchange`: the latest events of a key that
 * another installation has caused. `budget`: the amounts spent. `pause`: a paused route, which
 * only `pause_route` changes. `action`: who has last paused or resumed a route or job, and when. `session`: the start of a
 * session's history. `logout`: a console login that was ended early. `progress`: an object whose mark does not show the final
 * state of its newest event yet. `asked`: a message with buttons that does not show the answer yet.
 */
const OF_EVENTS = ['runs', 'exchange', 'budget', 'pause', 'action', 'session', 'progress', 'asked'] as const;
export const GUARD_KINDS = ['installation', 'alert', 'logout', ...OF_EVENTS] as const;
