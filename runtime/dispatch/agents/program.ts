/** Finds the program of a command agent and checks that it can be started. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { AgentPlan } from '../../../schemas/generated/types.ts';

/**
 * Resolves a relative path against the profile's home, whatever the working folder is. Leaves a bare name for the PATH.
 */
export function locateProgram(program: string, folder: string): string {
  return program.includes('/') && !isAbsolute(program) ? join(folder, program) : program;
}

/** Where programs are searched. */
interface ProgramPlaces {
  /** The profile's home. */
  readonly folder: string;
  /** The environment of the process that starts it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Why the agent's program cannot be started here, or null. An agent with its own PATH is not checked. */
export function missingAgent(agent: AgentPlan, places: ProgramPlaces): string | null {
  if (agent.kind !== 'command' || Object.hasOwn(agent.env, 'PATH')) return null;
  return missingProgram(agent.argv, places);
}

/** Why a command cannot be started here, or null. */
function missingProgram([name = '']: readonly string[], { folder, env }: ProgramPlaces): string | null {
  const program = locateProgram(name, folder);
  if (program.includes('/')) return isProgram(program) ? null : `${program} does not exist or is not executable`;
  const folders = (env.PATH ?? '').split(delimiter).filter((path) => path !== '');
  return folders.some((path) => isProgram(join(path, program))) ? null : `${program} is not on the PATH`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
