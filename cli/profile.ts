/** `hookwright profile`: creates, lists and shows isolated identities on one gateway. */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { agentPlans, DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../base/names.ts';
import type { Paint } from '../base/paint.ts';
import { createPaint } from '../base/paint.ts';
import { entryLabel } from '../base/text.ts';
import type { SubscriptionScope } from '../compiler/stages/compile-subscriptions.ts';
import { compileSubscriptions } from '../compiler/stages/compile-subscriptions.ts';
import { secretsOf } from '../runtime/deliver/missing-secrets.ts';
import { writeAtomic } from '../runtime/platform/files.ts';
import { printSecretRef } from '../runtime/platform/secrets.ts';
import type { AgentPlan, ProfilePlan, RoutePlan, RouteTable, SecretRef } from '../schemas/generated/types.ts';
import { PROFILE_CONFIG, PROFILE_ENV } from './base/built/texts.ts';
import { openHome } from './base/context.ts';
import { CliError, findName } from './base/errors.ts';
import { argument, command } from './command-line/command.ts';
import { configOption, jsonOption } from './command-line/options.ts';
import { printJson, printLine, printNote, visible } from './output/print.ts';
import { printList } from './output/table.ts';
import { openTable, routePath } from './subscriptions/routes.ts';
import { readSubscriptionText } from './subscriptions/subscription-file.ts';

const FOLDERS = ['scripts', 'skills', 'sessions'];

/** `hookwright profile create`: creates the folder of an isolated identity. */
export const profileCreateCommand = command({
  args: { name: argument('name') },
  async run(context, given) {
    const { name } = given;
    if (name === DEFAULT_PROFILE)
      throw new CliError('the profile `default` always exists: its folder is the home', context.home);
    if (!PROFILE_NAME.test(name)) {
      throw new CliError(
        `invalid profile name "${name}"`,
        'use at most 64 lower-case letters, digits, - and _, with a letter or digit first',
      );
    }
    const home = profileHome(openHome(context), name);
    if (existsSync(home))
      throw new CliError(`there is already a profile "${name}": ${home}`, `to see it: hookwright profile show ${name}`);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    for (const folder of FOLDERS) mkdirSync(join(home, folder), { mode: 0o700 });
    writeAtomic(join(home, 'config.yaml'), PROFILE_CONFIG, 0o600);
    writeAtomic(join(home, '.env'), PROFILE_ENV, 0o600);
    printLine(context, home);
    printNote(
      context,
      `enable profiles: gateway.multiplex_profiles: true\nthen bind a route: profile: ${name}, or hookwright webhook subscribe <name> --route-profile ${name}`,
    );
  },
});

/** A profile is not served if profiles are switched off. */
type Row = Pick<ProfileClosure, 'id' | 'name' | 'home' | 'agent' | 'routes' | 'targets'> & { readonly served: boolean };

/** `hookwright profile list`: the profiles of this home, with their routes, targets and agent. */
export const profileListCommand = command({
  options: { config: configOption, json: jsonOption },
  async run(context, given) {
    const open = await openTable(context, given.config);
    const served = loadClosures(context.home, open).map((closure): Row => ({ ...closure, served: true }));
    const others = folders(join(context.home, 'profiles')).filter((name) => !served.some((row) => row.name === name));
    const rows = [...served, ...others.map(unserved)];
    printList(context, rows, {
      json: given.json,
      columns: [
        { title: 'NAME', value: ({ name }) => name, whole: true },
        { title: 'ROUTES', value: ({ routes }) => routes.map(({ name }) => name).join(','), whole: true },
        { title: 'TARGETS', value: ({ targets }) => targets.join(','), whole: true },
        { title: 'AGENT', value: ({ agent }) => agent },
        { title: 'STATE', value: (row) => (row.served ? 'served' : 'not served: gateway.multiplex_profiles is off') },
      ],
      empty: 'no profiles',
    });
  },
});

function folders(path: string): string[] {
  const names = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path) : [];
  return names.filter((name) => PROFILE_NAME.test(name) && statSync(join(path, name)).isDirectory()).sort();
}

const unserved = (name: string): Row => ({
  id: name,
  name,
  home: `profiles/${name}`,
  agent: '',
  routes: [],
  targets: [],
  served: false,
});

/** `hookwright profile show`: everything one profile can reach. */
export const profileShowCommand = command({
  options: { config: configOption, json: jsonOption },
  args: { name: argument('profile') },
  async run(context, given) {
    const { name } = given;
    const open = await openTable(context, given.config);
    const closures = loadClosures(context.home, open);
    const closure = findName({
      kind: 'profile',
      name,
      known: closures.map((one) => [one.name, one] as const),
      listedBy: 'hookwright profile list',
      notes: open.table.gateway.multiplex_profiles
        ? []
        : ['profiles are off; to enable them: gateway.multiplex_profiles: true'],
    });
    if (given.json) printJson(context, closure);
    else for (const line of formatClosure(closure, createPaint(context.colour.stdout))) printLine(context, line);
  },
});

/** Everything that a profile can reach, for `lint` and `profile show`. */
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
  /** References with their purpose; never a secret. */
  readonly credentials: readonly string[];
  readonly scripts: readonly string[];
  readonly skills: readonly string[];
}

function closureOf(profile: ProfilePlan, table: RouteTable, all: readonly RoutePlan[]): ProfileClosure {
  const routes = all.filter((route) => route.profile === profile.name);
  const jobs = Object.values(table.jobs).filter((job) => job.profile === profile.name);
  return {
    id: profile.name,
    name: profile.name,
    home: profile.home,
    toolsets: profile.toolsets,
    agent: agentPlans(profile)
      .map(([agent, plan]) => `${agent === null ? '' : `${agent}: `}${describeAgent(plan)}`)
      .join('; '),
    routes: routes.map((route) => ({ name: route.name, path: routePath(route), mode: route.mode })),
    jobs: jobs.map(({ name }) => name),
    targets: Object.keys(profile.targets).map((target) => entryLabel(profile, target)),
    credentials: credentialsOf(profile, routes),
    scripts: distinct(routes.flatMap(({ script }) => (script === null ? [] : [script.path]))),
    skills: distinct([...routes, ...jobs].flatMap(({ skills }) => skills)),
  };
}

function credentialsOf(profile: ProfilePlan, routes: readonly RoutePlan[]): string[] {
  const named = (what: string, ref: SecretRef): string => `${what}: ${printSecretRef(ref)}`;
  return [
    ...routes.flatMap(({ name, secrets }) => secrets.map(({ ref }) => named(`route ${name}`, ref))),
    ...Object.entries(profile.targets).flatMap(([target, { credentials }]) =>
      Object.entries(credentials).map(([key, ref]) => named(`${entryLabel(profile, target)}.${key}`, ref)),
    ),
    ...agentPlans(profile).flatMap(([name, agent]) => {
      const place = name === null ? 'agent' : `agents.${name}`;
      return secretsOf(agent).map(({ where, ref }) => named(`${place}.${where}`, ref));
    }),
  ];
}

const AGENTS: { readonly [Kind in AgentPlan['kind']]: (plan: Extract<AgentPlan, { kind: Kind }>) => string } = {
  command: ({ argv }) => argv.join(' '),
  openai: ({ model, base_url }) => `${model} at ${base_url}`,
  preview: () => 'none: each answer is the prompt itself',
};

const describeAgent = (plan: AgentPlan): string => (AGENTS[plan.kind] as (plan: AgentPlan) => string)(plan);

const distinct = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** An unreadable subscriptions file adds nothing, because the gateway does not serve it either. */
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
