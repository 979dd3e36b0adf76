/** `hookwright gateway start`: `gateway run` in the background, with a log file; returns once it serves. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { GatewayStatus } from '../../../runtime/control/operations.ts';
import type { CliContext } from '../../base/context.ts';
import { openHome } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { command, text } from '../../command-line/command.ts';
import { configOption, failOnOption, hostOption } from '../../command-line/options.ts';
import { tryAskGateway } from '../../gateway/ask-gateway.ts';
import type { LogPosition } from '../../gateway/log.ts';
import { failuresIn, logFile, openLogFile, readSince, readTail, warningsIn } from '../../gateway/log.ts';
import { printLine, printNote, visible } from '../../output/print.ts';

/** How long a gateway may take to start serving, in ms: a large configuration takes seconds to compile. */
const READY_MS = 60_000;
const POLL_MS = 50;

const options = {
  config: configOption,
  failOn: failOnOption('Refuse a changed configuration under which kept requests are lost, or treated otherwise'),
  host: hostOption,
  port: text('port', 'Port instead of the configured one'),
};

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Start the gateway in the background, with a log file',
  details:
    'Compiles the configuration, serves it, and recompiles it on change, like `gateway run`. Returns when it serves; when it cannot, prints why and exits 1. To have it started at boot and restarted after a crash, use `gateway install-service`.',
  examples: [
    ['Start, look, stop', '$0 gateway start && $0 gateway status && $0 gateway stop'],
    ['With a configuration of its own', '$0 gateway start --config ./hookwright.yaml --port 9000'],
  ],
  options,
  async run(context, given) {
    const running = await tryAskGateway(context, 'status', {});
    if (running !== null) throw alreadyServed(context, running);
    const status = await launch(context, given);
    printLine(context, status.url);
    if (status.table.error !== null) printNote(context, visible(status.table.error));
    printNote(context, `started (pid ${status.pid}), log: ${logFile(context.home)}`);
  },
});

function runArguments(context: CliContext, given: Given): string[] {
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
async function launch(context: CliContext, given: Given): Promise<GatewayStatus> {
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

function alreadyServed(context: CliContext, { url, pid }: GatewayStatus): CliError {
  return new CliError(
    `a gateway already serves ${context.home} on ${url} (pid ${pid})`,
    'stop it first: hookwright gateway stop',
  );
}

function failure(context: CliContext, position: LogPosition, ended: boolean): CliError {
  const path = logFile(context.home);
  if (!ended) return new CliError('the gateway does not get ready', `look at its log: ${path}`);
  const reasons = failuresIn(readSince(path, position).bytes);
  return new CliError('the gateway did not start', ...(reasons.length === 0 ? [`its log: ${path}`] : reasons));
}
