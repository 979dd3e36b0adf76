/** The files that no program in a sandbox may read, where a command starts one as the gateway would. */
import { secretPaths } from '../../runtime/platform/secrets/machine-secrets.ts';
import { tableSecretRefs } from '../../runtime/platform/secrets/secret-refs.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';

/** @param files absolute paths of the configuration */
export function hiddenFiles(context: CliContext, table: RouteTable, files: readonly string[]): readonly string[] {
  const { projectEnv } = context;
  const secrets = secretPaths(tableSecretRefs(table), context);
  return [...files, ...(projectEnv === undefined ? [] : [projectEnv]), ...secrets];
}
