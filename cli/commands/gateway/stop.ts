/** `hookwright gateway stop`: drains the running gateway and waits until it is gone. */
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { command } from '../../command-line/command.ts';
import { isGatewayThere, readGatewayInfo } from '../../gateway/ask-gateway.ts';
import { NOT_OURS, otherProject, servedLines, stopOf } from '../../gateway/other-project.ts';
import { cutOff, drainOption, stopGateway } from '../../gateway/stop-gateway.ts';
import { printNote } from '../../output/print.ts';

export default command({
  summary: 'Stop the running gateway: drain its work, wait until it is gone',
  details:
    'New events are answered 503, waiting coalesce groups are run, runs and deliveries under way may finish for `drain_seconds`. What is then still running is cut off, goes on after the next start, and makes this command exit 1. Where the gateway serves another configuration than the one of this folder, it is not stopped.',
  examples: [
    ['Stop and wait', '$0 gateway stop'],
    ['Give running agents five minutes', '$0 gateway stop --drain 300'],
  ],
  options: { drain: drainOption },
  async run(context, given) {
    await refuseOtherProject(context);
    const abandoned = await stopGateway(context, given.drain);
    if (abandoned > 0) {
      throw new CliError(
        `stopped, but ${cutOff(abandoned)}`,
        'they go on after the next start; to wait longer: hookwright gateway stop --drain <seconds>',
      );
    }
    printNote(context, 'stopped');
  },
});

/** In the folder of another project, somebody else's gateway is meant by mistake. */
async function refuseOtherProject(context: CliContext): Promise<void> {
  const config = readGatewayInfo(context)?.config ?? null;
  if (config === null || otherProject(context, config) === null || !(await isGatewayThere(context))) return;
  throw new CliError(NOT_OURS, ...servedLines(config), `to stop it: ${stopOf(context, config)}`);
}
