/** Runs programs in a module's sandbox, which is loaded with the first program that has one. */
import { join } from 'node:path';
import { agentPlans } from '../../base/agent-plan.ts';
import type { FilterPlan, RoutePlan, RouteTable, SandboxPlan } from '../../schemas/generated/types.ts';
import { locateProgram } from '../dispatch/agents/program.ts';
import type { RuntimePart } from '../module.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { Confine, Sandbox, SandboxContext } from '../platform/process/sandbox.ts';
import { SANDBOX_UNAVAILABLE } from '../platform/process/sandbox.ts';
import { listPath } from '../table/in-file-set.ts';

export interface Confinement {
  readonly confine: Confine;
  /** Why this machine has no sandbox, with the command that changes it; null: it has one. Tries it. */
  problem(): Promise<string | null>;
  /** The paths of plans that open nothing here now, each with why. */
  closed(plans: readonly SandboxPlan[]): Promise<readonly string[]>;
}

const NONE = `${SANDBOX_UNAVAILABLE}: no module of this program has a sandbox`;
const NO_SANDBOX: Sandbox = {
  run: () => Promise.resolve({ kind: 'spawn_failed', code: NONE, stderr: '' }),
  problem: () => Promise.resolve(NONE),
  closed: () => [],
};

export function createConfinement(modules: readonly RuntimePart[], context: SandboxContext): Confinement {
  let opened: Promise<Sandbox> | null = null;
  const open = (): Promise<Sandbox> => {
    const load = modules.find(({ sandbox }) => sandbox)?.sandbox;
    opened ??= load === undefined ? Promise.resolve(NO_SANDBOX) : load().then((create) => create(context));
    return opened;
  };
  return {
    confine: (plan, walls = {}): RunProcess =>
      plan === null ? context.run : async (request) => (await open()).run(plan, walls, request),
    problem: async () => (await open()).problem(),
    closed: async (plans) => (await open()).closed(plans),
  };
}

/** The sandboxes that programs of the table run in. */
export function sandboxesOf({ gateway, profiles }: Pick<RouteTable, 'gateway' | 'profiles'>): readonly SandboxPlan[] {
  const agents = Object.values(profiles).flatMap((profile) => agentPlans(profile).map(([, agent]) => agent));
  // A table of an older compiler has no such key.
  return [gateway, ...agents].flatMap((plan) => ('sandbox' in plan ? (plan.sandbox ?? []) : []));
}

/** Files and folders besides the table that decide what its gateway does, and that are read while it runs; a bare name is on the PATH. */
export function keptFiles(
  { profiles }: Pick<RouteTable, 'profiles'>,
  plans: readonly RoutePlan[],
  places: Pick<SandboxContext, 'home' | 'userHome'>,
): readonly string[] {
  const ofProfiles = Object.values(profiles).flatMap((profile) => {
    const folder = join(places.home, profile.home);
    const commands = agentPlans(profile).flatMap(([, plan]) => (plan.kind === 'command' ? [plan.argv] : []));
    const programs = commands.map(([program = '']) => locateProgram(program, folder));
    return [...['scripts', 'skills', ...CATALOGS].map((name) => join(folder, name)), ...programs];
  });
  return [...ofProfiles, ...plans.flatMap(({ filters }) => listsIn(filters)).map((path) => listPath(path, places))];
}

const CATALOGS = ['sources', 'targets', 'blueprints'].map((kind) => join('catalog', kind));

function listsIn(filter: FilterPlan | null): readonly string[] {
  if (filter === null || filter.kind === 'leaf') return filter?.operator === 'in_file' ? [filter.value as string] : [];
  return filter.filters.flatMap(listsIn);
}
