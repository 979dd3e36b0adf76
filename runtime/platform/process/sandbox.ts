/** The interface of sandboxes: what a program that reads untrusted text can reach (decisions §11). A module runs them. */
import type { RoutePlan, RouteTable, SandboxPlan } from '../../../schemas/generated/types.ts';
import type { Logger } from '../log.ts';
import type { RunProcess } from './run-process.ts';

/** What one agent's sandbox differs in from another's of the same plan. */
export interface Walls {
  /** Folders of others, absolute: not readable unless the plan names them. Default: none. */
  readonly hidden?: readonly string[];
  /** Paths that others can write, as in their plans: a link in one opens nothing. Default: none. */
  readonly written?: readonly string[];
  /** Variables that hold a placeholder, with the hosts on the way to which it becomes the value. Default: none. */
  readonly onlyTo?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Runs programs in a sandbox. A program that cannot have the one it was given does not start: `spawn_failed`, with a code
 * that begins with `sandbox_unavailable`. @param plan null: the program reaches what this process does
 */
export type Confine = (plan: SandboxPlan | null, walls?: Walls) => RunProcess;

/** Begins the code of a program that did not start because it could not have its sandbox. */
export const SANDBOX_UNAVAILABLE = 'sandbox_unavailable';

export interface SandboxContext {
  /** Runs a program without a sandbox. */
  readonly run: RunProcess;
  /** `<home_dir>`. */
  readonly home: string;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /** Absolute paths that no program may read or write unless a plan names them: the configuration, its `.env`, files of secrets. */
  readonly hidden: () => readonly string[];
  /** Absolute paths, and names, of what the gateway goes by: no program may change them, or what is in them, unless a plan names them to be written. */
  readonly kept: () => readonly string[];
  readonly log: Logger;
  /** Whether this is the gateway of the home: it removes what an earlier one has left behind. */
  readonly sweep: boolean;
}

export interface Sandbox {
  /** See `Confine`. */
  run(plan: SandboxPlan, walls: Walls, request: Parameters<RunProcess>[0]): ReturnType<RunProcess>;
  /** Why no program can be started in one here, with the command that changes it; null: it can. Tries it, for up to 30 s. */
  problem(): Promise<string | null>;
  /** The paths of plans that open nothing here now, each with why. */
  closed(plans: readonly SandboxPlan[]): readonly string[];
}

/** The files and folders besides the table that decide what its gateway does, and that are read while it runs. */
export type KeptFiles = (
  table: Pick<RouteTable, 'profiles'>,
  plans: readonly RoutePlan[],
  places: Pick<SandboxContext, 'home' | 'userHome'>,
) => readonly string[];

/** What a module has of sandboxes. */
export interface SandboxTools {
  readonly open: (context: SandboxContext) => Sandbox;
  readonly keptFiles: KeptFiles;
}
