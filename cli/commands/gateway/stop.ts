/** `hookwright gateway stop`: drains the running gateway and waits until it is gone. */
import { CliError } from '../../base/errors.ts';
import { command } from '../../command-line/command.ts';
import { cutOff, drainOption, stopGateway } from '../../gateway/stop-gateway.ts';
import { printNote } from '../../output/print.ts';

export default command({
  summary: 'Stop the running gateway: drain its work, wait until it is gone',
  details:
    'New events are answered 503, waiting coalesce groups are run, runs and deliveries under way may finish for `drain_seconds`. What is then still running is cut off, goes on after the next start, and makes this command exit 1.',
  examples: [
    ['Stop and wait', '$0 gateway stop'],
    ['Give running agents five minutes', '$0 gateway stop --drain 300'],
  ],
  options: { drain: drainOption },
  async run(context, given) {
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
