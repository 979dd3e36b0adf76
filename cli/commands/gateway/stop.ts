/** `hookwright gateway stop`: drains the running gateway and waits until it is gone. */
import { waitForLock } from '../../../runtime/store/sqlite/file-lock.ts';
import { CliError } from '../../base/errors.ts';
import { command, parsed } from '../../command-line/command.ts';
import { parseSeconds } from '../../command-line/values.ts';
import { askGateway, pathsOf } from '../../gateway/ask-gateway.ts';
import { printNote } from '../../output/print.ts';

/** How long the process may take to end after its drain, in ms. */
const EXIT_MS = 10_000;
/** The gateway answers within this time even while it drains, in ms; otherwise it hangs. */
const PATIENCE_MS = 24 * 3_600_000;

export default command({
  summary: 'Stop the running gateway: drain its work, wait until it is gone',
  details:
    'New events are answered 503, waiting coalesce groups are run, runs and deliveries under way may finish for `drain_seconds`. What is then still running is cut off, goes on after the next start, and makes this command exit 1.',
  examples: [
    ['Stop and wait', '$0 gateway stop'],
    ['Give running agents five minutes', '$0 gateway stop --drain 300'],
  ],
  options: { drain: parsed('seconds', 'How long work may finish (default: gateway.drain_seconds)', parseSeconds) },
  async run(context, given) {
    const seconds = given.drain;
    const report = await askGateway(
      context,
      'stop',
      seconds === undefined ? {} : { drain_seconds: seconds },
      seconds === undefined ? PATIENCE_MS : seconds * 1000 + EXIT_MS,
    );
    const lock = await waitForLock(pathsOf(context).lock, EXIT_MS, context.clock);
    lock?.release();
    if (lock === null) {
      throw new CliError('the gateway has drained but its process does not end', 'look at it: hookwright gateway logs');
    }
    if (!report.drained) {
      throw new CliError(
        `stopped, but ${report.abandoned} ${report.abandoned === 1 ? 'run was' : 'runs were'} cut off`,
        'they go on after the next start; to wait longer: hookwright gateway stop --drain <seconds>',
      );
    }
    printNote(context, 'stopped');
  },
});
