/** Runs scripts as the gateway does, for commands that explain events. */

import type { CliContext } from '../../../../cli/base/context.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';

/** The code behind it is loaded only when a script is to run. */
export async function scriptRunner({
  env,
  home,
  clock,
}: Pick<CliContext, 'env' | 'home' | 'clock'>): Promise<RunScript> {
  const [{ createScriptRunner }, { runProcess }] = await Promise.all([
    import('../../../../runtime/intake/script-runner.ts'),
    import('../../../../runtime/platform/process/run-process.ts'),
  ]);
  const { realPath, describe } = gatewayFiles;
  const { signal } = new AbortController();
  return createScriptRunner({ run: (request) => runProcess(request, clock), realPath, describe, env, home, signal });
}
