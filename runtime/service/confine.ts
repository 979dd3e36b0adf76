/** Runs programs in a module's sandbox, which is loaded with the first program that has one. */
import { agentPlans } from '../../base/agent-plan.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { RuntimePart } from '../module.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { Confine, Sandbox, SandboxContext } from '../platform/process/sandbox.ts';
import { SANDBOX_UNAVAILABLE } from '../platform/process/sandbox.ts';

export interface Confinement {
  readonly confine: Confine;
  /** Why this machine has no sandbox, with the command that changes it; null: it has one. Tries it. */
  problem(): Promise<string | null>;
}

const NONE = `${SANDBOX_UNAVAILABLE}: no module of this program has a sandbox`;
const NO_SANDBOX: Sandbox = {
  run: () => Promise.resolve({ kind: 'spawn_failed', code: NONE, stderr: '' }),
  problem: () => Promise.resolve(NONE),
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
  };
}

/** Whether a program of the table runs in a sandbox. */
export const hasSandbox = ({ gateway, profiles }: Pick<RouteTable, 'gateway' | 'profiles'>): boolean =>
  // A table of an older compiler has no such key.
  (gateway.sandbox ?? null) !== null ||
  Object.values(profiles).some((profile) =>
    agentPlans(profile).some(([, agent]) => agent.kind === 'command' && (agent.sandbox ?? null) !== null),
  );
