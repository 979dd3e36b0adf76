/** Resolves secret references on this machine. */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { mayOthersWrite } from '../../../base/env-lines.ts';
import { readRegularText, readRegularTextSync } from '../../../base/read-regular-file.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';
import { loadSecrets } from './load-secrets.ts';
import type { SecretContext } from './secret-resolver.ts';
import { createSecretResolver } from './secret-resolver.ts';
import type { SecretResolver } from './secrets.ts';
import { SecretError } from './secrets.ts';

/** Largest secret file or `.env` that is read, in bytes. */
const MAX_SECRET_BYTES = 1024 * 1024;

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The `.env` of a project, which wins over that of the home. It is not read if others can write to it. */
  readonly projectEnv?: string | undefined;
}

/** The folder that `~/` stands for. */
export const userHome = (env: SecretSources['env']): string => env.HOME || homedir();

/** For commands. Create a new resolver when secrets may have changed: a resolver reads each `.env` once. */
export function createSecrets(sources: SecretSources): SecretResolver {
  return createSecretResolver({
    ...placesOf(sources),
    readFile: (path) => readRegularTextSync(path, MAX_SECRET_BYTES),
  });
}

/** For a server: reads the current values of these references, without blocking. */
export function loadSecretsOf(sources: SecretSources, refs: readonly SecretRef[]): Promise<SecretResolver> {
  return loadSecrets(refs, { ...placesOf(sources), readFile: (path) => readRegularText(path, MAX_SECRET_BYTES) });
}

/** The values that can be resolved; missing ones are left out. */
export function resolvable(refs: readonly SecretRef[], secrets: SecretResolver): string[] {
  return refs.flatMap((ref) => {
    try {
      return [secrets.resolve(ref)];
    } catch (error) {
      if (error instanceof SecretError) return [];
      throw error;
    }
  });
}

const isSafe = (path: string): boolean => !mayOthersWrite(statSync(path, { throwIfNoEntry: false })?.mode ?? 0);

function placesOf({ env, home, projectEnv }: SecretSources): Omit<SecretContext, 'readFile'> {
  return {
    env,
    home,
    projectEnv: projectEnv !== undefined && isSafe(projectEnv) ? projectEnv : null,
    userHome: userHome(env),
  };
}
