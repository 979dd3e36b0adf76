/** Finds unusable secrets of gateway, agents and targets, so that one error lists them together with those of routes. */

import { agentLabel, agentPlans } from '../../base/names.ts';
import { entryLabel } from '../../base/text.ts';
import type {
  AgentPlan,
  ProfilePlan,
  RouteTable,
  SecretRef,
  TargetBinding,
  TargetPlan,
} from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import { tryRead } from '../platform/secrets.ts';
import { consoleTokens } from '../table/link-people.ts';
import { bindingOf, bindTarget } from './link-targets.ts';

/** A reference outside routes and targets. */
interface SecretUse {
  /** Path in the configuration, for messages. */
  readonly where: string;
  /** Null: the gateway's. */
  readonly profile: string | null;
  /** The setting, for resolvers that check values. */
  readonly setting: string | undefined;
  readonly ref: SecretRef;
}

type Tables = Pick<RouteTable, 'profiles' | 'targets' | 'gateway'>;

/**
 * Returns a line for each unusable target, and each unusable reference of agents and gateway. Lines name references, never
 * values.
 * @param isReplaced true if the embedding program replaces the agent of this name, so that its secrets are not needed
 */
export function missingSecrets(
  table: Tables,
  secrets: SecretResolver,
  isReplaced: (name: string | null) => boolean,
): readonly string[] {
  const uses = [...agentRefs(table, isReplaced), ...gatewayRefs(table)];
  const lines = uses.flatMap(({ where, ref, setting }) => problemsOf(where, () => secrets.resolve(ref, setting)));
  return [...targetProblems(table, secrets), ...lines];
}

function targetProblems({ profiles, targets }: Tables, secrets: SecretResolver): readonly string[] {
  return Object.values(profiles).flatMap((profile) =>
    Object.values(targets).flatMap((plan) => {
      const binding = bindingOf(profile, plan);
      if (binding === null || isShared(profile, plan, binding)) return [];
      const where = `target ${entryLabel(profile, plan.name)} of profile ${profile.name}`;
      return problemsOf(where, () => bindTarget({ profile: profile.name, plan, binding }, secrets));
    }),
  );
}

/** True if another target shares its entry, and already reports the problem. */
function isShared({ targets }: ProfilePlan, { platform = '' }: TargetPlan, { credentials }: TargetBinding): boolean {
  const other = Object.hasOwn(targets, platform) ? targets[platform] : undefined;
  return other !== undefined && JSON.stringify(other.credentials) === JSON.stringify(credentials);
}

function problemsOf(where: string, read: () => unknown): readonly string[] {
  const problems: string[] = [];
  tryRead(read, problems);
  return problems.map((problem) => `${where}: ${problem}`);
}

const AGENT_REFS: {
  readonly [K in AgentPlan['kind']]: (plan: Extract<AgentPlan, { kind: K }>) => readonly Omit<SecretUse, 'profile'>[];
} = {
  command: ({ env }) => Object.entries(env).map(([name, ref]) => ({ where: `env.${name}`, setting: name, ref })),
  openai: ({ api_key, headers = {} }) => [
    ...(api_key === null ? [] : [{ where: 'api_key', setting: undefined, ref: api_key }]),
    ...Object.entries(headers).map(([name, ref]) => ({ where: `headers.${name}`, setting: name, ref })),
  ],
  preview: () => [],
};

/** The references of one agent. */
export const secretsOf = (plan: AgentPlan): ReturnType<(typeof AGENT_REFS)['preview']> =>
  (AGENT_REFS[plan.kind] as (plan: AgentPlan) => ReturnType<(typeof AGENT_REFS)['preview']>)(plan);

/** The references of the agents of each profile. @param isReplaced see `missingSecrets` */
export function agentRefs(
  { profiles }: Pick<RouteTable, 'profiles'>,
  isReplaced: (name: string | null) => boolean = () => false,
): readonly SecretUse[] {
  const several = Object.keys(profiles).length > 1;
  return Object.values(profiles).flatMap((profile) =>
    agentPlans(profile).flatMap(([name, plan]) => {
      if (isReplaced(name)) return [];
      const subject = agentLabel(several ? profile.name : null, name);
      return secretsOf(plan).map((use) => ({ ...use, where: `${subject}: ${use.where}`, profile: profile.name }));
    }),
  );
}

/** The references under `gateway`. */
export function gatewayRefs({ gateway: { store, console } }: Pick<RouteTable, 'gateway'>): readonly SecretUse[] {
  const shared = store.kind === 'postgres' ? store : null;
  const refs: Readonly<Record<string, SecretRef | null | undefined>> = {
    'gateway.store.postgres': shared?.url,
    'gateway.store.key': shared?.key,
    ...Object.fromEntries(consoleTokens(console).map(({ where, ref }) => [where, ref])),
  };
  return Object.entries(refs).flatMap(([where, ref]) => (ref ? [{ where, profile: null, setting: where, ref }] : []));
}
