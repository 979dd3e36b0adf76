/** Runs programs in a module's sandbox, which is loaded with the first program that has one. */
import { agentPlans } from '../../base/agent-plan.ts';
import type { RoutePlan, RouteTable, SandboxPlan } from '../../schemas/generated/types.ts';
import type { RuntimePart } from '../module.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { Confine, Sandbox, SandboxContext, SandboxTools } from '../platform/process/sandbox.ts';
import { SANDBOX_UNAVAILABLE } from '../platform/process/sandbox.ts';

export interface Confinement {
  readonly confine: Confine;
  /** Call before these routes of the table are served: programs must not change what the gateway goes by then. */
  keep(table: RouteTable, plans: readonly RoutePlan[]): Promise<void>;
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
const NO_TOOLS: SandboxTools = { open: () => NO_SANDBOX, keptFiles: () => [] };

export function createConfinement(modules: readonly RuntimePart[], context: Omit<SandboxContext, 'kept'>): Confinement {
  /** Also of tables that were in service before. */
  const kept = new Set<string>();
  let loaded: Promise<SandboxTools> | null = null;
  let opened: Promise<Sandbox> | null = null;
  const load = (): Promise<SandboxTools> => {
    loaded ??= modules.find(({ sandbox }) => sandbox)?.sandbox?.() ?? Promise.resolve(NO_TOOLS);
    return loaded;
  };
  const open = (): Promise<Sandbox> => {
    opened ??= load().then((tools) => tools.open({ ...context, kept: () => [...kept] }));
    return opened;
  };
  return {
    async keep(table, plans) {
      if (loaded === null && sandboxesOf(table).length === 0) return;
      const { keptFiles } = await load();
      for (const path of keptFiles(table, plans, context)) kept.add(path);
    },
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
