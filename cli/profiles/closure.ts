/** Everything that a profile can reach, for `lint` and `profile show`. */
import { agentPlans } from '../../base/agent-plan.ts';
import { labelIn } from '../../base/label.ts';
import type { Paint } from '../../base/paint.ts';
import type { SubscriptionScope } from '../../compiler/stages/compile-subscriptions.ts';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import { printSecretRef } from '../../runtime/platform/secrets/secrets.ts';
import type { AgentPlan, ProfilePlan, RoutePlan, RouteTable, SecretRef } from '../../schemas/generated/types.ts';
import { visible } from '../output/print.ts';
import { routePath } from '../subscriptions/routes.ts';
import { readSubscriptionText } from '../subscriptions/subscription-file.ts';

export interface ProfileClosure {
  readonly id: string;
  readonly name: string;
  /** Relative to `<home_dir>`; empty for `default`. */
  readonly home: string;
  readonly agent: string;
  readonly toolsets: readonly string[];
  readonly routes: readonly { readonly name: string; readonly path: string; readonly mode: RoutePlan['mode'] }[];
  readonly jobs: readonly string[];
  readonly targets: readonly string[];
  /** References, each with what it is for; never a secret. */
  readonly credentials: readonly string[];
  readonly scripts: readonly string[];
  readonly skills: readonly string[];
}

function closureOf(profile: ProfilePlan, table: RouteTable, all: readonly RoutePlan[]): ProfileClosure {
  const routes = all.filter((route) => route.profile === profile.name);
  const jobs = Object.values(table.jobs).filter((job) => job.profile === profile.name);
  return {
    ...{ id: profile.name, name: profile.name, home: profile.home, toolsets: profile.toolsets },
    agent: agentPlans(profile)
      .map(([agent, plan]) => `${agent === null ? '' : `${agent}: `}${describeAgent(plan)}`)
      .join('; '),
    routes: routes.map((route) => ({ name: route.name, path: routePath(route), mode: route.mode })),
    jobs: jobs.map(({ name }) => name),
    targets: Object.keys(profile.targets).map((target) => labelIn(table.targets, target)),
    credentials: credentialsOf(profile, routes, table),
    scripts: distinct(routes.flatMap(({ script }) => (script === null ? [] : [script.path]))),
    skills: distinct([...routes, ...jobs].flatMap(({ skills }) => skills)),
  };
}

function credentialsOf(profile: ProfilePlan, routes: readonly RoutePlan[], table: RouteTable): string[] {
  const named = (what: string, ref: SecretRef): string => `${what}: ${printSecretRef(ref)}`;
  return [
    ...routes.flatMap(({ name, secrets }) => secrets.map(({ ref }) => named(`route ${name}`, ref))),
    ...Object.entries(profile.targets).flatMap(([target, { credentials }]) =>
      Object.entries(credentials).map(([key, ref]) => named(`${labelIn(table.targets, target)}.${key}`, ref)),
    ),
    ...agentPlans(profile).flatMap(([name, agent]) => {
      const place = name === null ? 'agent' : `agents.${name}`;
      return [
        ...(agent.kind === 'openai' && agent.api_key !== null ? [named(`${place}.api_key`, agent.api_key)] : []),
        ...(agent.kind === 'command'
          ? Object.entries(agent.env).map(([variable, ref]) => named(`${place}.env.${variable}`, ref))
          : []),
      ];
    }),
  ];
}

const AGENTS: { readonly [Kind in AgentPlan['kind']]: (plan: Extract<AgentPlan, { kind: Kind }>) => string } = {
  command: ({ argv }) => argv.join(' '),
  openai: ({ model, base_url }) => `${model} at ${base_url}`,
  preview: () => 'none: prompts are answered with themselves',
};

const describeAgent = (plan: AgentPlan): string => (AGENTS[plan.kind] as (plan: AgentPlan) => string)(plan);

const distinct = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** A subscriptions file that cannot be read adds nothing: the gateway would not serve it either. */
export function loadClosures(
  home: string,
  scope: SubscriptionScope & { readonly table: RouteTable },
): ProfileClosure[] {
  const { routes, profiles } = scope.table;
  const dynamic = dynamicRoutes(home, scope).filter(({ name }) => !Object.hasOwn(routes, name));
  return Object.values(profiles).map((profile) =>
    closureOf(profile, scope.table, [...Object.values(routes), ...dynamic]),
  );
}

function dynamicRoutes(home: string, scope: SubscriptionScope) {
  try {
    return compileSubscriptions(readSubscriptionText(home), scope).routes;
  } catch {
    return [];
  }
}

const NONE = 'none';

export function formatClosure(closure: ProfileClosure, paint: Paint): string[] {
  const { name, home, agent, toolsets, routes, jobs, targets, credentials, scripts, skills } = closure;
  const fields: readonly (readonly [string, readonly string[]])[] = [
    ['agent', [agent]],
    ['toolsets', toolsets],
    ['routes', routes.map(({ path, mode }) => `${path} (${mode})`)],
    ['jobs', jobs],
    ['targets', targets],
    ['credentials', credentials],
    ['scripts', scripts],
    ['skills', skills],
  ];
  const lines = fields.map(([title, values]) => {
    const text = values.length === 0 ? NONE : values.map(visible).join(', ');
    return `  ${title.padEnd(11)}  ${text}`;
  });
  return [`profile ${paint('bold', name)}${home === '' ? '' : ` in ${home}/`}`, ...lines];
}
