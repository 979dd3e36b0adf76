/** Secret references resolved on this machine, as they are now. */
import { homedir } from 'node:os';
import { parseEnvFile } from '../../compiler/source/env-file.ts';
import { isUsableEnv } from '../../compiler/source/load-env.ts';
import { readRegularText, readRegularTextSync } from '../../runtime/files/read-regular-file.ts';
import { loadSecrets } from '../../runtime/load-secrets.ts';
import type { SecretContext } from '../../runtime/secret-resolver.ts';
import { createSecretResolver } from '../../runtime/secret-resolver.ts';
import type { SecretResolver } from '../../runtime/secrets.ts';
import { SecretError } from '../../runtime/secrets.ts';
import type { SecretRef } from '../../schemas/generated/types.ts';
import { nodeFiles } from '../files/node-files.ts';

/** Largest file of a secret or of variables that is read, in bytes. */
const MAX_SECRET_BYTES = 1024 * 1024;

export interface SecretSources {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** See `CliContext`. */
  readonly projectEnv?: string;
}

/** The folder that `~/` stands for. */
export const userHome = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

/** For commands. Make a new one whenever secrets may have changed: a resolver reads each `.env` once. */
export function createSecrets(sources: SecretSources): SecretResolver {
  return createSecretResolver({
    ...placesOf(sources),
    readFile: (path) => readRegularTextSync(path, MAX_SECRET_BYTES),
  });
}

/** For a server: reads these references as they are now, without blocking. */
export function loadSecretsOf(sources: SecretSources, refs: readonly SecretRef[]): Promise<SecretResolver> {
  return loadSecrets(refs, { ...placesOf(sources), readFile: (path) => readRegularText(path, MAX_SECRET_BYTES) });
}

/** The values of those that are there; whoever needs one that is missing reports it. */
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

function placesOf({ env, home, projectEnv }: SecretSources): Omit<SecretContext, 'readFile'> {
  return {
    env,
    home,
    projectEnv: projectEnv !== undefined && isUsableEnv(nodeFiles, projectEnv) ? projectEnv : null,
    userHome: userHome(env),
    parseEnv: (text) => parseEnvFile({ path: '.env', name: '.env', text }).values,
  };
}
