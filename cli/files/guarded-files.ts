/** What no program in a sandbox may read, where a command starts one as the gateway would. */
import { dirname } from 'node:path';
import type { SandboxContext } from '../../runtime/platform/process/sandbox.ts';
import { secretPaths, userHome } from '../../runtime/platform/secrets/machine-secrets.ts';
import { tableSecretRefs } from '../../runtime/platform/secrets/secret-refs.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { builtFolder } from '../serve/built-folder.ts';

/** @param files absolute paths of the configuration */
export function guardedFiles(
  context: CliContext,
  table: RouteTable,
  files: readonly string[],
): Pick<SandboxContext, 'hidden' | 'home' | 'userHome'> {
  const { projectEnv, home } = context;
  const secrets = secretPaths(tableSecretRefs(table), context);
  const folders = new Set([context.cwd, ...files.map((file) => dirname(file))]);
  // A table that a program has written would be served.
  const built = [...folders].map((folder) => builtFolder({ cwd: folder, home: context.home }));
  const hidden = [...files, ...built, ...(projectEnv === undefined ? [] : [projectEnv]), ...secrets];
  return { home, userHome: userHome(context.env), hidden: () => hidden };
}
