/** Starts a gateway in the background, for `gateway start` and `gateway restart`. */

import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { GatewayStatus } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { GivenBy } from '../command-line/command.ts';
import { text } from '../command-line/command.ts';
import { configOption, failOnOption, hostOption } from '../command-line/options.ts';
import { printLine, printNote, visible } from '../output/print.ts';
import { tryAskGateway } from './ask-gateway.ts';
import type { LogPosition } from './log.ts';
import { failuresIn, logFile, openLogFile, readSince, readTail, warningsIn } from './log.ts';
import { OWN_HOME, servedLines, stopOf } from './other-project.ts';

/** How long a gateway may take to start serving, in ms: a large configuration takes seconds to compile. */
const READY_MS = 60_000;
const POLL_MS = 50;

export const launchOptions = {
  config: configOption,
  failOn: failOnOption('Refuse a changed configuration under which kept requests are lost, or treated otherwise'),
  host: hostOption,
  port: text('port', 'Port instead of the configured one'),
};

export type LaunchGiven = GivenBy<typeof launchOptions>;

/** Returns once the gateway serves, and prints its URL and its warnings. @throws CliError saying why it does not */
export async function startGateway(context: CliContext, given: LaunchGiven): Promise<void> {
  const status = await launch(context, given);
  printLine(context, status.url);
  if (status.table.error !== null) printNote(context, visible(status.table.error));
  printNote(context, `started (pid ${status.pid}), log: ${logFile(context.home)}`);
}

function runArguments(context: CliContext, given: LaunchGiven): string[] {
  const named = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${name}=${value}`];
  return [
    ...(given.config ?? []).map((path) => `--config=${path}`),
    ...named('--host', given.host),
    ...named('--port', given.port),
    ...named('--fail-on', given.failOn?.join(',')),
    `--log-file=${logFile(context.home)}`,
  ];
}

/** Starts the process, detached, and waits until its control socket answers or it has ended. Prints what it has warned of. */
async function launch(context: CliContext, given: LaunchGiven): Promise<GatewayStatus> {
  const [program = '', ...self] = context.self;
  const log = openLogFile(openHome(context));
  const { position } = readTail(logFile(context.home), 0);
  const child = spawn(program, [...self, 'gateway', 'run', ...runArguments(context, given)], {
    cwd: context.cwd,
    env: context.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let ended = false;
  for (const event of ['exit', 'error']) {
    child.once(event, () => {
      ended = true;
    });
  }
  child.unref();
  const until = context.clock.monotonic() + READY_MS;
  while (!ended && context.clock.monotonic() < until) {
    const status = await tryAskGateway(context, 'status', {});
    if (status !== null && status.pid !== child.pid) {
      // A gateway of another command was first.
      child.kill();
      throw alreadyServed(context, status);
    }
    if (status !== null) {
      const { bytes } = readSince(logFile(context.home), position);
      for (const warning of warningsIn(bytes, context)) printNote(context, warning);
      return status;
    }
    await setTimeout(POLL_MS);
  }
  throw failure(context, position, ended);
}

export function alreadyServed(context: CliContext, { url, pid, config }: GatewayStatus): CliError {
  return new CliError(
    `a gateway already serves ${context.home} on ${url} (pid ${pid})`,
    ...servedLines(config),
    `stop it first: ${stopOf(context, config)}`,
    OWN_HOME,
  );
}

function failure(context: CliContext, position: LogPosition, ended: boolean): CliError {
  const path = logFile(context.home);
  if (!ended) return new CliError('the gateway does not get ready', `look at its log: ${path}`);
  const reasons = failuresIn(readSince(path, position).bytes);
  return new CliError('the gateway did not start', ...(reasons.length === 0 ? [`its log: ${path}`] : reasons));
}
