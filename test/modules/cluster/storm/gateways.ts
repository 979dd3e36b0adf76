/** The gateways of the storm: each a process with its own proxy in front of the database, and always on one port. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { nodeArgv } from '../../../helpers/node-argv.ts';
import type { TcpProxy } from '../../../helpers/tcp-proxy.ts';
import { startTcpProxy } from '../../../helpers/tcp-proxy.ts';
import type { NodeOptions } from './node.ts';

const [NODE = '', ...ENTRY] = nodeArgv(new URL('./node.js', import.meta.url));

export class StormGateway {
  readonly name: string;
  readonly proxy: TcpProxy;
  /** True during a fault. */
  isBusy = false;
  url = '';
  private readonly options: Omit<NodeOptions, 'port'>;
  private child: ChildProcess | null = null;
  private isClosed = false;

  private constructor(name: string, proxy: TcpProxy, options: Omit<NodeOptions, 'port'>) {
    this.name = name;
    this.proxy = proxy;
    this.options = options;
  }

  /** Not started yet. @param options `database`: its URL without the proxy */
  static async create(t: Ending, name: string, options: Omit<NodeOptions, 'port'>): Promise<StormGateway> {
    const proxy = await startTcpProxy(t, options.database);
    mkdirSync(options.home, { recursive: true });
    const gateway = new StormGateway(name, proxy, { ...options, database: proxy.via(options.database) });
    atEnd(t, () => gateway.close());
    return gateway;
  }

  /** Resolves when it listens. @throws Error with its output when it ends before */
  async start(): Promise<void> {
    if (this.isClosed) return;
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    const log = openSync(this.log, 'a');
    const child = spawn(NODE, [...ENTRY, JSON.stringify({ ...this.options, port } satisfies NodeOptions)], {
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    this.child = child;
    const ended = once(child, 'exit').then(() => {
      throw new Error(`gateway ${this.name} ended:\n${readFileSync(this.log, 'utf8').slice(-2000)}`);
    });
    const [line] = (await Promise.race([once(child.stdout as Readable, 'data'), ended])) as [Buffer];
    ended.catch(() => {});
    this.url = line.toString().trim();
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(signal);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** True if it has ended without a kill. */
  get hasFailed(): boolean {
    return this.child !== null && this.child.exitCode !== null;
  }

  private get log(): string {
    return join(this.options.home, 'log');
  }

  private async close(): Promise<void> {
    this.isClosed = true;
    await this.kill();
  }
}
