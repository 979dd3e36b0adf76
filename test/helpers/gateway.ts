/** A gateway for tests, run through the command line in this process, on a free port with its own home. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayStatus } from '../../schemas/built/operations/types.ts';
import type { Ending } from './at-end.ts';
import { atEnd } from './at-end.ts';
import type { CliOptions, CliResult, RunningCli } from './cli.ts';
import { runInProcess, startInProcess } from './cli.ts';

export interface TestGateway {
  readonly home: string;
  readonly url: string;
  readonly running: RunningCli;
  /** Resends an event of `webhook test` that a slow disk rejects, as senders do. */
  readonly cli: (...argv: string[]) => Promise<CliResult>;
  readonly status: () => Promise<GatewayStatus>;
  /** Stops it and returns how it ended. Idempotent. */
  readonly stop: () => Promise<CliResult>;
}

/** Writes `config` as the home's configuration, and runs `gateway run` with it until the test ends. */
export async function startGateway(
  t: Ending,
  options: CliOptions & { readonly config: string; readonly argv?: readonly string[] },
): Promise<TestGateway> {
  const { home, config } = options;
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const running = startInProcess(options.argv ?? ['gateway', 'run', '--port', '0'], options);
  const cli = async (...argv: string[]): Promise<CliResult> => {
    for (let turn = 1; ; turn++) {
      const result = await runInProcess(argv, options);
      if (argv[1] !== 'test' || turn === 20 || !result.stdout.startsWith('503 ')) return result;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  const status = async (): Promise<GatewayStatus> => {
    const { stdout, stderr } = await cli('gateway', 'status', '--json');
    const found = JSON.parse(stdout) as GatewayStatus | { state: 'stopped' };
    if (found.state === 'stopped') throw new Error(`not running: ${stderr}${running.stderr()}`);
    return found;
  };
  const stop = async (): Promise<CliResult> => {
    running.signal('SIGTERM');
    return running.done;
  };
  atEnd(t, stop);
  let isOver = false;
  const url = await Promise.race([
    // Further polling would keep the tests from ending.
    until(async () => (/"url":"([^"]+)"/.exec(running.stderr()) ?? [])[1] ?? (isOver ? 'none' : null)),
    running.done.then(({ stderr }) => {
      isOver = true;
      throw new Error(`did not start: ${stderr}`);
    }),
  ]);
  await until(async () => status().catch(() => null));
  return { home, url, running, cli, status, stop };
}

/** A long timeout, because a busy machine is not a failure: it only passes if nothing happens any more. */
const MOST_MS = 300_000;

/** Polls until there is a result, at growing intervals, because polling takes time from the work. */
export async function until<Answer>(ask: () => Promise<Answer | null | undefined | false>): Promise<Answer> {
  const end = performance.now() + MOST_MS;
  for (let pause = 5; performance.now() < end; pause = Math.min(pause * 1.5, 100)) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error('it did not happen within five minutes');
}
