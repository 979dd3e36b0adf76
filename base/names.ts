/** Names that compiler and runtime must agree on. */
import { join } from 'node:path';

/** Names and folders of profiles. */
export const DEFAULT_PROFILE = 'default';
export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The folder of a profile; that of `default` is the home folder. */
export function profileHome(home: string, profile: string): string {
  return profile === DEFAULT_PROFILE ? home : join(home, 'profiles', profile);
}

interface Agents<Plan> {
  /** The default agent. */
  readonly agent: Plan;
  readonly agents: Readonly<Record<string, Plan>>;
}

/** @param name null: the default agent. @returns null if the profile has no agent of this name */
export function agentPlan<Plan>({ agent, agents }: Agents<Plan>, name: string | null): Plan | null {
  if (name === null) return agent;
  return Object.hasOwn(agents, name) ? (agents[name] ?? null) : null;
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

/**
 * The specification's tokens for senders and targets, which rows and tables of earlier versions contain, with their
 * usual names. The catalog has the tokens as aliases; this list is for code without the catalog.
 */
export const SPEC_NAMES = {
  source: { forgea: 'github', forgeb: 'gitlab' },
  target: {
    forgea_check: 'github_check',
    forgea_comment: 'github_comment',
    forgea_issue: 'github_issue',
    forgea_labels: 'github_labels',
    forgea_review: 'github_review',
    forgeb_labels: 'gitlab_labels',
    forgeb_note: 'gitlab_note',
    forgeb_status: 'gitlab_status',
    chat_cn_d: 'qqbot',
    community_chat: 'discord',
    imessage_bridge: 'imessage',
    messenger_a: 'telegram',
    mobile_messenger: 'whatsapp',
    private_messenger: 'signal',
    smarthome: 'homeassistant',
    social_cn: 'wechat',
    team_chat: 'mattermost',
    workchat_cn_a: 'dingtalk',
    workchat_cn_b: 'feishu',
    workchat_cn_c: 'wecom',
    workspace_chat: 'slack',
  },
} as const satisfies Readonly<Record<'source' | 'target', Readonly<Record<string, string>>>>;

/** The canonical name for one that may be a token of the specification. */
export function canonicalName(kind: keyof typeof SPEC_NAMES, name: string): string {
  const names: Readonly<Record<string, string>> = SPEC_NAMES[kind];
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

/** The specification's token for a target, or its canonical name if there is none. */
export const specTarget = (real: string): string =>
  Object.entries(SPEC_NAMES.target).find(([, name]) => name === real)?.[0] ?? real;

export const realSource = (name: string): string => canonicalName('source', name);
export const realTarget = (name: string): string => canonicalName('target', name);

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
 * only `pause_route` changes. `session`: the start of a session's history. `logout`: a console login that was
 * ended early.
 */
const OF_EVENTS = ['runs', 'exchange', 'budget', 'pause', 'session'] as const;
export const GUARD_KINDS = ['installation', 'alert', 'logout', ...OF_EVENTS] as const;
