/** `hookwright gateway start`: `gateway run` in the background, with a log file; returns once it serves. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Command, Option } from 'clipanion';
import type { GatewayStatus } from '../../../runtime/control/operations.ts';
import type { CliContext } from '../../base/context.ts';
import { openHome } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { configOption, failOnOption, hostOption } from '../../command-line/options.ts';
import { tryAskGateway } from '../../gateway/ask-gateway.ts';
import { logFile, openLogFile } from '../../gateway/log-file.ts';
import { failuresIn, warningsIn } from '../../gateway/log-lines.ts';
import type { LogPosition } from '../../gateway/tail.ts';
import { readSince, readTail } from '../../gateway/tail.ts';
import { printLine, printNote, visible } from '../../output/print.ts';

/** How long a gateway may take to start serving, in ms: a large configuration takes seconds to compile. */
const READY_MS = 60_000;
const POLL_MS = 50;

interface Launched {
  readonly status: GatewayStatus;
  /** Logged while it started. */
  readonly warnings: readonly string[];
}

export class GatewayStartCommand extends Command<CliContext> {
  static override paths = [['gateway', 'start']];
  static override usage = Command.Usage({
    description: 'Start the gateway in the background, with a log file',
    details:
      'Compiles the configuration, serves it, and recompiles it on change, like `gateway run`. Returns when it serves; when it cannot, prints why and exits 1. To have it started at boot and restarted after a crash, use `gateway install-service`.',
    examples: [
      ['Start, look, stop', '$0 gateway start && $0 gateway status && $0 gateway stop'],
      ['With a configuration of its own', '$0 gateway start --config ./hookwright.yaml --port 9000'],
    ],
  });

  config = configOption();
  failOn = failOnOption('Refuse a changed configuration under which kept requests are lost, or treated otherwise');
  host = hostOption();
  port = Option.String('--port', { description: '<port> Port instead of the configured one' });

  async execute(): Promise<number> {
    const running = await tryAskGateway(this.context, 'status', {});
    if (running !== null) throw this.alreadyServed(running);
    const { status, warnings } = await this.launch();
    for (const warning of warnings) printNote(this.context, warning);
    printLine(this.context, status.url);
    if (status.table.error !== null) printNote(this.context, visible(status.table.error));
    printNote(this.context, `started (pid ${status.pid}), log: ${logFile(this.context.home)}`);
    return 0;
  }

  private arguments(): string[] {
    const named = (name: string, value: string | undefined): string[] =>
      value === undefined ? [] : [`${name}=${value}`];
    return [
      ...(this.config ?? []).map((path) => `--config=${path}`),
      ...named('--host', this.host),
      ...named('--port', this.port),
      ...named('--fail-on', this.failOn?.join(',')),
      `--log-file=${logFile(this.context.home)}`,
    ];
  }

  /** Starts the process, detached, and waits until its control socket answers or it has ended. */
  private async launch(): Promise<Launched> {
    const [program = '', ...self] = this.context.self;
    const log = openLogFile(openHome(this.context));
    const { position } = readTail(logFile(this.context.home), 0);
    const child = spawn(program, [...self, 'gateway', 'run', ...this.arguments()], {
      cwd: this.context.cwd,
      env: this.context.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    let ended = false;
    child.once('exit', () => {
      ended = true;
    });
    child.once('error', () => {
      ended = true;
    });
    child.unref();
    const until = this.context.clock.monotonic() + READY_MS;
    while (!ended && this.context.clock.monotonic() < until) {
      const status = await tryAskGateway(this.context, 'status', {});
      if (status !== null && status.pid !== child.pid) {
        // A gateway of another command was first.
        child.kill();
        throw this.alreadyServed(status);
      }
      if (status !== null) {
        const { bytes } = readSince(logFile(this.context.home), position);
        return { status, warnings: warningsIn(bytes, this.context) };
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw this.failure(position, ended);
  }

  private alreadyServed({ url, pid }: GatewayStatus): CliError {
    return new CliError(
      `a gateway already serves ${this.context.home} on ${url} (pid ${pid})`,
      'stop it first: hookwright gateway stop',
    );
  }

  private failure(position: LogPosition, ended: boolean): CliError {
    const path = logFile(this.context.home);
    if (!ended) return new CliError('the gateway does not get ready', `look at its log: ${path}`);
    const reasons = failuresIn(readSince(path, position).bytes);
    return new CliError('the gateway did not start', ...(reasons.length === 0 ? [`its log: ${path}`] : reasons));
  }
}
