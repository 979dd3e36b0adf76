/** What no program in a sandbox may read or change, where a command starts one as the gateway would. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { secretPaths } from '../../runtime/platform/secrets/machine-secrets.ts';
import { tableSecretRefs } from '../../runtime/platform/secrets/secret-refs.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';

/** @param files absolute paths of the configuration */
export function hiddenFiles(context: CliContext, table: RouteTable, files: readonly string[]): readonly string[] {
  const { projectEnv } = context;
  const secrets = secretPaths(tableSecretRefs(table), context);
  const folders = [...new Set([context.cwd, ...files.map((file) => dirname(file))])].map((path) => join(path, 'build'));
  // A table that a program has written would be served.
  const built = folders.filter((path) => existsSync(join(path, 'routes.json')));
  return [...files, ...built, ...(projectEnv === undefined ? [] : [projectEnv]), ...secrets];
}
