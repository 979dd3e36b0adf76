/** Secret references resolved on this machine, as they are now. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { parseEnvFile } from '../../compiler/source/env-file.ts';
import { createSecretResolver } from '../../runtime/secret-resolver.ts';
import type { SecretResolver } from '../../runtime/secrets.ts';

export interface SecretSources {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
}

/** The folder that `~/` stands for. */
export const userHome = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

/** Make a new one whenever secrets may have changed: a resolver reads each `.env` once. */
export function createSecrets({ env, home }: SecretSources): SecretResolver {
  return createSecretResolver({
    env,
    home,
    userHome: userHome(env),
    readFile: (path) => readFileSync(path, 'utf8'),
    parseEnv: (text) => parseEnvFile({ path: '.env', name: '.env', text }).values,
  });
}
