/** Facts about this machine that the compiler uses, for commands and for the running gateway. */
import { join } from 'node:path';
import { createFacts, loadEnvFile, loadProjectEnv, mergeEnv } from '../source/load-env.ts';
import type { JobRef, MachineFacts } from '../views/views.ts';
import { nodeFiles } from './node-files.ts';

export interface Machine {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** See `CliContext`. */
  readonly projectEnv?: string;
}

/** Reads each `.env` file once. Only the default profile also has the process environment. */
export function createMachineFacts({ home, cwd, env, projectEnv }: Machine, jobs: readonly JobRef[]): MachineFacts {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const variables = (profile: string): ReadonlyMap<string, string> => {
    const own = profile === 'default';
    const file = loadEnvFile(nodeFiles, own ? home : join(home, 'profiles', profile), cwd).values;
    return own ? mergeEnv(env, file, loadProjectEnv(nodeFiles, projectEnv, cwd).values) : file;
  };
  return createFacts({
    files: nodeFiles,
    home,
    jobs,
    env: (profile) => {
      const values = known.get(profile) ?? variables(profile);
      known.set(profile, values);
      return values;
    },
  });
}
