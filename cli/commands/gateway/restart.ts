/** `hookwright gateway restart`: stops the running gateway, and starts it in the background. */

import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { searchConfig } from '../../../compiler/source/search-config.ts';
import type { ReloadReport } from '../../../schemas/built/operations/types.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { command } from '../../command-line/command.ts';
import { compileRequest, createCompileRequest } from '../../compile/compile-files.ts';
import { askGateway, isGatewayThere, OtherVersionError, readGatewayInfo } from '../../gateway/ask-gateway.ts';
import { launchOptions, startGateway } from '../../gateway/launch.ts';
import { NOT_OURS, servedLines } from '../../gateway/other-project.ts';
import { cutOff, drainOption, stopGateway } from '../../gateway/stop-gateway.ts';
import { formatDiagnostics } from '../../output/diagnostics.ts';
import { printNote } from '../../output/print.ts';

/** A large configuration takes seconds to compile. */
const COMPILE_MS = 120_000;

export default command({
  summary: 'Stop the running gateway, and start it in the background',
  details:
    'After an upgrade, or a change that takes effect with the next start (host, port, store, console). Options are those of `gateway start`, and are given again. Where the configuration here has errors, or another one is in service, it says so, exits 1 and stops nothing. Without a running gateway it is `gateway start`.',
  examples: [
    ['After an upgrade', '$0 gateway restart'],
    ['Give running agents five minutes', '$0 gateway restart --drain 300'],
  ],
  options: { drain: drainOption, ...launchOptions },
  async run(context, given) {
    if (!(await isGatewayThere(context))) {
      printNote(context, 'no gateway was running');
      return startGateway(context, given);
    }
    if (given.config === undefined) await check(context);
    const abandoned = await stopGateway(context, given.drain);
    printNote(context, abandoned === 0 ? 'stopped' : `stopped; ${cutOff(abandoned)}, to go on now`);
    await startGateway(context, given);
  },
});

/** Refuses, before anything is stopped, what would not start again as it was. */
async function check(context: CliContext): Promise<void> {
  // Not from its status, which another version may answer otherwise.
  const config = readGatewayInfo(context)?.config ?? null;
  const { root } = searchConfig(nodeFiles, context);
  if (config === null || root === null || nodeFiles.realpath(root) !== nodeFiles.realpath(config)) {
    const served =
      config === null ? ['it serves compiled tables: restart it where it was started'] : servedLines(config);
    throw new CliError(
      NOT_OURS,
      ...served,
      'to start another one in its place: hookwright gateway restart --config <path>',
    );
  }
  const report = await askGateway(context, 'reload', { fail_on: [] }, COMPILE_MS).catch((error: unknown) => {
    if (error instanceof OtherVersionError) return compiled(context);
    throw error;
  });
  if (report.ok) return;
  if (report.diagnostics !== '') printNote(context, report.diagnostics.trimEnd());
  throw new CliError(
    'the configuration has errors: the gateway was not stopped',
    'if only a gateway of an older version finds them: hookwright gateway stop, then hookwright gateway start',
  );
}

/** Without the gateway, which is asked for its jobs alone; where it does not tell them, the start has to find errors. */
async function compiled(context: CliContext): Promise<Pick<ReloadReport, 'ok' | 'diagnostics'>> {
  try {
    const { output, diagnostics } = compileRequest(await createCompileRequest(context, {}));
    return { ok: output !== null, diagnostics: formatDiagnostics('pretty', diagnostics, context, 'stderr') };
  } catch (error) {
    if (error instanceof OtherVersionError) return { ok: true, diagnostics: '' };
    throw error;
  }
}
