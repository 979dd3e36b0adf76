/** Stops the gateway of this home, for `gateway stop` and `gateway restart`. */
import { waitForLock } from '../../runtime/store/sqlite/file-lock.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { parsed } from '../command-line/command.ts';
import { parseSeconds } from '../command-line/values.ts';
import { askGateway, pathsOf } from './ask-gateway.ts';

/** How long the process may take to end after its drain, in ms. */
const EXIT_MS = 10_000;
/** The gateway answers within this time even while it drains, in ms; otherwise it hangs. */
const PATIENCE_MS = 24 * 3_600_000;

export const drainOption = parsed('seconds', 'How long work may finish (default: gateway.drain_seconds)', parseSeconds);

/** Drains it and waits until it is gone. Returns how many runs were cut off. @throws CliError when it does not end */
export async function stopGateway(context: CliContext, seconds: number | undefined): Promise<number> {
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
  return report.drained ? 0 : report.abandoned;
}

/** What was cut off by a stop, in words. */
export const cutOff = (runs: number): string => `${runs} ${runs === 1 ? 'run was' : 'runs were'} cut off`;
