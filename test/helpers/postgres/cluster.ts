/** A PostgreSQL server of the tests: a cluster in a temporary folder on its own port, only on 127.0.0.1. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ending } from '../at-end.ts';
import { atEnd } from '../at-end.ts';
import { freePort } from '../free-port.ts';
import { findBinaries, serverOwner } from './binaries.ts';

/** The superuser of every cluster; any password is accepted. */
export const SUPERUSER = 'hookwright';

const PREFIX = 'hookwright-postgres-';
/** In a cluster's folder: the id of the process that removes it. */
const OWNER = 'owner';

export interface ClusterOptions {
  /** The process that removes the cluster; without it, the next run does. Default: this process. */
  readonly owner?: number;
  /** For tests that kill the machine, not the server. Default: off. */
  readonly fsync?: boolean;
  /** Further settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

export class Cluster {
  readonly port: number;
  /** Ends with the server, when this folder is removed. */
  readonly folder: string;
  private readonly bin: string;
  private readonly settings: Readonly<Record<string, string>>;

  private constructor(parts: {
    bin: string;
    folder: string;
    port: number;
    settings: Readonly<Record<string, string>>;
  }) {
    this.bin = parts.bin;
    this.folder = parts.folder;
    this.port = parts.port;
    this.settings = parts.settings;
  }

  /** Creates and starts a cluster. `remove` ends it and removes its folder. */
  static async create({
    owner: pid = process.pid,
    fsync = false,
    settings = {},
  }: ClusterOptions = {}): Promise<Cluster> {
    const bin = findBinaries();
    if (bin === null) throw new Error('PostgreSQL is missing here (apt-get install postgresql)');
    removeAbandoned();
    const folder = mkdtempSync(join(tmpdir(), PREFIX));
    writeFileSync(join(folder, OWNER), `${pid}`);
    const owner = serverOwner();
    if (owner !== null) chownSync(folder, owner.uid, owner.gid);
    const durable = fsync ? {} : { fsync: 'off', synchronous_commit: 'on', full_page_writes: 'off' };
    const own = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '400', ...durable };
    const parts = { bin, folder, port: await freePort(), settings: { ...own, ...settings } };
    const cluster = new Cluster(parts);
    try {
      cluster.call('initdb', ['-D', cluster.data, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']);
      cluster.start();
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    return cluster;
  }

  /** URL of one of its databases. */
  url(database = 'postgres'): string {
    return `postgres://${SUPERUSER}:unused@127.0.0.1:${this.port}/${database}`;
  }

  /** Waits until it accepts connections. */
  start(): void {
    const settings = { port: String(this.port), ...this.settings };
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value === '' ? "''" : value}`);
    const log = join(this.folder, 'log');
    this.call('pg_ctl', ['-D', this.data, '-w', '-t', '300', '-l', log, '-o', options.join(' '), 'start']);
  }

  /** Process id of the server; null while it does not run. */
  get pid(): number | null {
    return serverPid(this.folder);
  }

  /** `fast` ends all sessions, `immediate` does so without a checkpoint. */
  stop(mode: 'fast' | 'immediate' = 'fast'): void {
    this.call('pg_ctl', ['-D', this.data, '-w', '-m', mode, 'stop']);
  }

  /** Kills the server with SIGKILL; its children notice and end. Waits until they have. */
  async kill(): Promise<void> {
    const [pid, ...children] = await this.halt();
    if (pid === undefined) return;
    process.kill(pid, 'SIGKILL');
    while ([pid, ...children].some(isRunning)) await sleep(5);
    rmSync(join(this.data, 'postmaster.pid'), { force: true });
  }

  /** Hangs for a time, as a server whose disk stalls: it answers nothing, and ends nothing. */
  async stall(ms: number): Promise<void> {
    const all = (await this.halt()).filter(isRunning);
    for (const pid of all.slice(1)) process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    for (const pid of all.filter(isRunning)) process.kill(pid, 'SIGCONT');
  }

  /** Stops the server, which then starts no other processes. @returns the server and its children; empty: it does not run */
  private async halt(): Promise<readonly number[]> {
    const { pid } = this;
    if (pid === null || !isRunning(pid)) return [];
    process.kill(pid, 'SIGSTOP');
    while (!hasState(pid, 'T')) await sleep(1);
    return [pid, ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)];
  }

  remove(): void {
    removeCluster(this.folder);
  }

  private get data(): string {
    return join(this.folder, 'data');
  }

  /** One of PostgreSQL's programs, as the owner of the cluster. */
  private call(program: string, argv: readonly string[]): void {
    const run = spawnSync(join(this.bin, program), argv, {
      ...{ cwd: this.folder, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
      ...serverOwner(),
    });
    if (run.status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${run.error?.message ?? run.stderr}`);
  }
}

/** A cluster for one test. */
export async function startCluster(t: Ending, options?: ClusterOptions): Promise<Cluster> {
  const cluster = await Cluster.create(options);
  atEnd(t, () => cluster.remove());
  return cluster;
}

/** Ends the server of this folder, if it runs, and removes the folder. */
export function removeCluster(folder: string): void {
  const pid = serverPid(folder);
  // SIGQUIT: ends immediately, without a checkpoint.
  if (pid !== null && isRunning(pid)) process.kill(pid, 'SIGQUIT');
  while (pid !== null && isRunning(pid)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Ends the servers whose owners were killed before they could, and removes their folders. */
export function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    try {
      const owner = Number(readFileSync(join(folder, OWNER), 'utf8'));
      if (owner > 0 && !exists(owner) && !hasOther(folder)) removeCluster(folder);
    } catch {
      // It has no owner yet, belongs to another user, or another run removes it.
    }
  }
}

/** True if the id in the folder now belongs to another process, which must not be ended. */
function hasOther(folder: string): boolean {
  const pid = serverPid(folder);
  return pid !== null && exists(pid) && readlinkSync(`/proc/${pid}/cwd`) !== join(folder, 'data');
}

/** True if a process has this id, even one of another user. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function serverPid(folder: string): number | null {
  try {
    return Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  } catch {
    return null;
  }
}

/** True if it runs; a zombie (`Z`), for which its parent has not waited yet, does not. */
function isRunning(pid: number): boolean {
  try {
    return !hasState(pid, 'Z');
  } catch {
    return false;
  }
}

/** @throws Error if there is no such process */
const hasState = (pid: number, state: 'T' | 'Z'): boolean =>
  readFileSync(`/proc/${pid}/status`, 'utf8').includes(`State:\t${state}`);
