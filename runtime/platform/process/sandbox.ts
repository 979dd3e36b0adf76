/**
 * The interface of sandboxes, which limit the access of programs that read untrusted text (decisions §11). A module implements
 * them.
 */
import type { GuardedSecretPlan, RoutePlan, RouteTable, SandboxPlan } from '../../../schemas/generated/types.ts';
import type { Logger } from '../log.ts';
import type { RunProcess } from './run-process.ts';

/** Differences between the sandboxes of two agents with the same plan. */
export interface SandboxExtras {
  /** Absolute folders of other agents: not readable unless the plan names them. Default: none. */
  readonly hidden?: readonly string[];
  /** Paths that other agents can write, as in their plans: a link in such a path is not followed. Default: none. */
  readonly written?: readonly string[];
  /** Variables with a placeholder, and the places where the proxy replaces it by the value. Default: none. */
  readonly onlyTo?: Readonly<Record<string, GuardedSecretPlan>>;
}

/**
 * Runs programs in a sandbox. A program whose sandbox is unavailable does not start: `spawn_failed`, with a code that starts
 * with `sandbox_unavailable`. @param plan null: the program has the same access as this process
 */
export type Confine = (plan: SandboxPlan | null, walls?: SandboxExtras) => RunProcess;

/** Start of the code of a program that did not start because its sandbox was unavailable. */
export const SANDBOX_UNAVAILABLE = 'sandbox_unavailable';

export interface SandboxContext {
  /** Runs a program without a sandbox. */
  readonly run: RunProcess;
  /** `<home_dir>`. */
  readonly home: string;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /**
   * Absolute paths that no program may read or write unless a plan names them: the configuration, its `.env`, files of secrets.
   */
  readonly hidden: () => readonly string[];
  /**
   * Absolute paths, and names, of files that decide what the gateway does. Programs may not change them or their contents,
   * unless a plan names them as writable.
   */
  readonly kept: () => readonly string[];
  readonly log: Logger;
  /** True for the gateway of the home, which removes the leftovers of an earlier one. */
  readonly sweep: boolean;
}

export interface Sandbox {
  /** See `Confine`. */
  run(plan: SandboxPlan, walls: SandboxExtras, request: Parameters<RunProcess>[0]): ReturnType<RunProcess>;
  /** Why no program can start in a sandbox here, with the command that fixes it; null: it works. Tests it, for up to 30 s. */
  problem(): Promise<string | null>;
  /** Paths of plans that cannot be opened here now, with the reasons. */
  closed(plans: readonly SandboxPlan[]): readonly string[];
}

/** Lists the files and folders besides the table that decide what its gateway does, and that are read while it runs. */
export type ListProtectedFiles = (
  table: Pick<RouteTable, 'profiles'>,
  plans: readonly RoutePlan[],
  places: Pick<SandboxContext, 'home' | 'userHome'>,
) => readonly string[];

/** The sandboxes of a module. */
export interface SandboxTools {
  readonly open: (context: SandboxContext) => Sandbox;
  readonly keptFiles: ListProtectedFiles;
}
