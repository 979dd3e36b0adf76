/**
 * The gateways of the storm: each a process, always on one port, with its own proxy in front of the database, or with a disk that
 * stalls.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import type { DiskTool } from '../../../helpers/disk/disk-plan.ts';
import { nodeArgv } from '../../../helpers/node-argv.ts';
import type { TcpProxy } from '../../../helpers/tcp-proxy.ts';
import { startTcpProxy } from '../../../helpers/tcp-proxy.ts';
import type { NodeOptions } from './node.ts';

const [NODE = '', ...ENTRY] = nodeArgv(new URL('./node.js', import.meta.url));

/** Once in this time, in ms, the disk hangs: for one, two or three seconds. */
const STALL_MS = 20_000;

export interface StormGatewayOptions extends Omit<NodeOptions, 'port'> {
  /** Makes the store's disk stall. Default: it does not. */
  readonly disk?: DiskTool | null;
}

export class StormGateway {
  readonly name: string;
  /** Null without a database. */
  readonly proxy: TcpProxy | null;
  /** True during a fault. */
  isBusy = false;
  url = '';
  private readonly options: Omit<NodeOptions, 'port'>;
  private readonly disk: DiskTool | null;
  private child: ChildProcess | null = null;
  private isClosed = false;

  private constructor(name: string, proxy: TcpProxy | null, options: Omit<NodeOptions, 'port'>, disk: DiskTool | null) {
    this.name = name;
    this.proxy = proxy;
    this.options = options;
    this.disk = disk;
  }

  /** Not started yet. @param options `database`: its URL without the proxy */
  static async create(t: Ending, name: string, options: StormGatewayOptions): Promise<StormGateway> {
    const { disk = null, ...node } = options;
    const proxy = node.database === null ? null : await startTcpProxy(t, node.database);
    mkdirSync(node.home, { recursive: true });
    const database = node.database === null ? null : (proxy?.via(node.database) ?? null);
    const gateway = new StormGateway(name, proxy, { ...node, database }, disk);
    atEnd(t, () => gateway.close());
    return gateway;
  }

  /** Resolves when it listens. @throws Error with its output when it ends before */
  async start(): Promise<void> {
    if (this.isClosed) return;
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    const log = openSync(this.log, 'a');
    const argv = [NODE, ...ENTRY, JSON.stringify({ ...this.options, port } satisfies NodeOptions)];
    const wrapped = this.disk?.wrap(argv, { home: this.options.home, stallMs: STALL_MS }) ?? { argv, env: {} };
    const [program = '', ...rest] = wrapped.argv;
    const env = { ...process.env, ...wrapped.env };
    const child = spawn(program, rest, { env, stdio: ['ignore', 'pipe', log] });
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
