/** A gateway as a separate process, which can be killed and whose disk can be slow or fail; and its senders. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfArgv } from './cli.ts';
import type { Wrapped } from './disk/disk-plan.ts';
import { until } from './gateway.ts';

export interface GatewayProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its output so far: the log, one JSON line per entry. It goes to the file `output.log`. */
  readonly output: () => string;
  /** Kills it if it is running, and resolves when it has ended. */
  readonly kill: () => Promise<void>;
}

export interface GatewayProcessOptions {
  readonly home: string;
  /** The program; default: this repository's. */
  readonly program?: readonly string[];
  /** Default: `gateway run`. */
  readonly command?: readonly string[];
  /** Folder of its output; default: the home. */
  readonly outputFolder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs it, such as a tracer. */
  readonly wrap?: (argv: readonly string[]) => Wrapped;
}

/** The gateway ended before it served. */
export class GatewayEnded extends Error {
  override readonly name = 'GatewayEnded';
}

/** @throws GatewayEnded with its output */
export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { home, program = selfArgv(), command = ['gateway', 'run'], wrap = (argv) => ({ argv, env: {} }) } = options;
  const { argv, env } = wrap([...program, ...command]);
  const path = join(options.outputFolder ?? home, 'output.log');
  const file = openSync(path, 'w');
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, HOOKWRIGHT_HOME: home, ...options.env, ...env },
    stdio: ['ignore', 'ignore', file],
  });
  closeSync(file);
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.on('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  const output = (): string => readFileSync(path, 'utf8');
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const kill = async (): Promise<void> => {
    if (hasEnded()) return;
    const closed = once(child, 'exit');
    child.kill('SIGKILL');
    await closed;
  };
  try {
    const url = await until(async () => {
      if (hasEnded()) throw new GatewayEnded(output());
      return (/"url":"([^"]+)"/.exec(output()) ?? [])[1];
    });
    return { url, child, output, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

export interface PostedAnswer {
  readonly status: number;
  /** The error code, or the status of an accepted event. */
  readonly code: string;
  readonly retryAfter: string | null;
}

/** A sender of signed events. */
export const createSender =
  (secret: string) =>
  async (url: string, route: string, id: string, payload: object): Promise<PostedAnswer> => {
    const body = JSON.stringify(payload);
    const headers = {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-request-id': id,
      'content-type': 'application/json',
    };
    const response = await fetch(`${url}/webhooks/${route}`, { method: 'POST', headers, body });
    const answer = (await response.json()) as { readonly status: string; readonly code?: string };
    return {
      status: response.status,
      code: answer.code ?? answer.status,
      retryAfter: response.headers.get('retry-after'),
    };
  };
