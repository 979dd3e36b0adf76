/** PgBouncer in transaction mode in front of a test's server: each transaction may get another connection. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ending } from '../at-end.ts';
import { atEnd } from '../at-end.ts';
import { freePort } from '../free-port.ts';
import { skipWithout } from '../skip-without.ts';
import { serverOwner, skipWithoutPostgres } from './binaries.ts';

/** Debian installs it where only root searches. */
const PATH = `${process.env.PATH}:/usr/sbin`;

export const skipWithoutPgbouncer = (): string | false =>
  skipWithoutPostgres() ||
  skipWithout(spawnSync('pgbouncer', ['--version'], { env: { PATH } }).error === undefined, 'PgBouncer', 'pgbouncer');

/** Connections to the server that all transactions share. */
const POOL_SIZE = 3;

/** @param url of a database @returns its URL through the pooler */
export async function startPgbouncer(t: Ending, url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-pgbouncer-'));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const { hostname, port, username, password, pathname } = new URL(url);
  const listenPort = await freePort();
  const database = `${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password='${password}'`;
  const settings = {
    ...{ listen_addr: '127.0.0.1', listen_port: listenPort, unix_socket_dir: '', logfile: '' },
    ...{ auth_type: 'any', pool_mode: 'transaction', default_pool_size: POOL_SIZE, server_round_robin: 1 },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n${database}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const owner = serverOwner();
  if (owner !== null) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid);
  const child = spawn('pgbouncer', ['-q', file], { env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'], ...owner });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  atEnd(t, async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  });
  while (!(await listens(listenPort))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer: ${said}`);
    await sleep(10);
  }
  const pooled = new URL(url);
  pooled.port = String(listenPort);
  pooled.hostname = '127.0.0.1';
  return pooled.href;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const [found] = await Promise.race([
    once(socket, 'connect').then(() => [true]),
    once(socket, 'error').catch(() => [false]),
  ]).catch(() => [false]);
  socket.destroy();
  return found === true;
}
