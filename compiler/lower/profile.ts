/** Lowers one profile: its agent, its toolsets, and its targets with their credentials (§5.4). */
import type {
  AgentConfig,
  AgentPlan,
  GatewayPlan,
  ProfileConfig,
  ProfilePlan,
  TargetBinding,
  TargetConfig,
  TargetPlan,
} from '../../schemas/generated/types.ts';
import { DEFAULT_TOOLSETS, webhookToolsets } from '../config/agents.ts';
import { targetNamed } from '../config/route-keys.ts';
import type { TableContent } from '../config/settings.ts';
import { HTTP_TARGET, platformPath, targetEntries } from '../config/target-entries.ts';
import type { Problem } from '../diagnostics/diagnostic.ts';
import { lowerAgent } from './agent.ts';
import { lowerBinding } from './binding.ts';
import type { Endpoints } from './http-target.ts';

export interface ProfileEntry {
  readonly name: string;
  /** Relative to `<home_dir>`: empty, or `profiles/<name>`. */
  readonly home: string;
  readonly config: ProfileConfig;
}

interface LoweredProfile {
  readonly plan: ProfilePlan;
  /** Paths are relative to the profile's config. */
  readonly problems: readonly Problem[];
  /** Canonical names of targets that are enabled but cannot be used. */
  readonly unusable: readonly string[];
}

type ProfileScope = Pick<TableContent, 'targets' | 'target_names' | 'toolsets'> & { readonly gateway: GatewayPlan };

/** Targets with problems are not bound; see `unusable`. */
export function lowerProfile(
  { name, home, config }: ProfileEntry,
  known: ProfileScope,
  endpoints: Endpoints,
): LoweredProfile {
  const targets: Record<string, TargetBinding> = {};
  const problems: Problem[] = [];
  const unusable: string[] = [];
  const scope = { ...known.gateway, profile: name };
  for (const { written, entry, plan, isShared } of bindable(config, known)) {
    const endpoint = written === HTTP_TARGET ? endpoints.get(name) : undefined;
    const lowered =
      endpoint?.plan === null
        ? { plan: null, problems: endpoint.problems }
        : lowerBinding(endpoint === undefined ? entry : { ...entry, variant: name }, plan, scope);
    if (isShared) {
      // Problems were reported for the entry's own target; missing settings are reported where the other target is used.
      if (lowered.plan !== null) targets[plan.name] = lowered.plan;
      continue;
    }
    problems.push(...withoutMisspelt(lowered.problems).map((problem) => inEntry(problem, written)));
    if (lowered.plan !== null)
      targets[plan.name] = written === plan.name ? lowered.plan : { label: written, ...lowered.plan };
    else if (entry.enabled === true) unusable.push(plan.name);
  }
  const toolsets = webhookToolsets(config.platform_toolsets?.webhook ?? DEFAULT_TOOLSETS, known.toolsets);
  const { sandbox } = known.gateway;
  const agentOf = (agent: AgentConfig): AgentPlan => lowerAgent(agent, name, known.toolsets, sandbox);
  const agents = Object.fromEntries(Object.entries(config.agents ?? {}).map(([key, agent]) => [key, agentOf(agent)]));
  const plan = { name, home, agent: agentOf(config.agent ?? {}), agents, toolsets, targets };
  return { plan, problems, unusable };
}

interface Bindable {
  readonly written: string;
  readonly entry: TargetConfig;
  readonly plan: TargetPlan;
  /** The entry belongs to another target of the service. */
  readonly isShared: boolean;
}

/** The written entries, targets that share an entry, and targets that need none because their client has its own login (§4.4). */
function bindable(config: ProfileConfig, known: ProfileScope): readonly Bindable[] {
  const written = new Map<string, Bindable>();
  for (const [name, entry] of targetEntries(config)) {
    const target = targetNamed(known.target_names, name);
    const plan = target === null ? undefined : known.targets[target];
    if (plan === undefined || written.has(plan.name)) continue;
    const own = needsNoEntry(plan) ? { enabled: true, ...entry } : entry;
    written.set(plan.name, { written: name, entry: own, plan, isShared: false });
  }
  const others = Object.values(known.targets).filter((plan) => needsNoEntry(plan) && !written.has(plan.name));
  const shared = Object.values(known.targets).flatMap((plan) => {
    const of = plan.platform === undefined || written.has(plan.name) ? undefined : written.get(plan.platform);
    return of === undefined ? [] : [{ ...of, plan, isShared: true }];
  });
  const bare = others.map((plan) => ({ written: plan.name, entry: { enabled: true }, plan, isShared: false }));
  return [...written.values(), ...shared, ...bare];
}

/** Drops reports of missing settings if a misspelt one has been reported. */
function withoutMisspelt(problems: readonly Problem[]): readonly Problem[] {
  const isMisspelt = problems.some(({ rule }) => rule === 'unknown-key');
  return isMisspelt ? problems.filter(({ rule }) => rule !== 'missing-setting') : problems;
}

const needsNoEntry = ({ driver }: TargetPlan): boolean =>
  driver === 'log' || driver === 'local' || driver === 'github_comment';

const inEntry = (problem: Problem, written: string): Problem => ({
  ...problem,
  path: platformPath(written, problem.path),
  ...(problem.related === undefined
    ? {}
    : { related: problem.related.map((place) => ({ ...place, path: platformPath(written, place.path) })) }),
});
