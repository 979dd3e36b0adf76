/**
 * Time from the start of the built program to its first response on /health, beside `node -e` with a bare server; and
 * of whole commands.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ROOT } from '../harness/build.ts';
import { compileYaml, ROUTES, tempFolder, writeTable } from '../harness/config.ts';
import { SECRET } from '../harness/payloads.ts';
import { median } from '../harness/stats.ts';
import type { Case } from '../lab.ts';

const BARE = `require('node:http').createServer((q, s) => s.end('{}')).listen(+process.argv[1], '127.0.0.1')`;
const TIMES = 7;

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ port, host: '127.0.0.1', path: '/health', agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
    });
    probe.on('error', () => resolve(false));
    probe.end();
  });
}

/** Milliseconds from spawn to the first response. */
async function startTime(start: (port: number) => ChildProcess): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const child = start(port);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  while (!(await isHealthy(port))) {
    if (child.exitCode !== null) throw new Error(`the server ended with code ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const ms = performance.now() - started;
  child.kill('SIGTERM');
  await exited;
  return ms;
}

async function medianStart(start: (port: number) => ChildProcess): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) times.push(await startTime(start));
  return median(times);
}

/** Runs a whole command, which must succeed. */
function commandTime(cwd: string, argv: readonly string[], env: NodeJS.ProcessEnv): number {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const started = performance.now();
    const { status, stderr } = spawnSync(process.execPath, argv, { cwd, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
    times.push(performance.now() - started);
  }
  return median(times);
}

const EXAMPLE = join(ROOT, 'examples/code-review');
const EVENT = join(ROOT, 'examples/quickstart/pull_request.json');
const EXPLAIN = ['explain', 'code-review', '--event', 'pull_request', '--payload', `@${EVENT}`];

export const coldStartCase: Case = {
  name: 'cold-start',
  title: 'Cold start: process start to the first response of /health, and whole commands, median',
  header: ['', 'time'],
  async run() {
    spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const home = tempFolder();
    writeTable(home, compileYaml(home, ROUTES).routesJson);
    const env = { ...process.env, HOOKWRIGHT_HOME: home, WEBHOOK_SECRET: SECRET };
    const main = join(ROOT, 'dist/cli/main.js');
    const bare = await medianStart((port) => spawn(process.execPath, ['-e', BARE, String(port)], { stdio: 'ignore' }));
    const ours = await medianStart((port) => {
      const argv = [main, 'serve', '--table', join(home, 'build'), '--port', String(port)];
      return spawn(process.execPath, argv, { env, stdio: 'ignore' });
    });
    const times = [['--version'], ['lint'], EXPLAIN].map(
      (argv) => [argv[0] ?? '', commandTime(EXAMPLE, [main, ...argv], env)] as const,
    );
    const [, version = 1] = times[0] ?? [];
    return [
      ['node -e, bare server', `${bare.toFixed(0)} ms`],
      ['hookwright serve', `${ours.toFixed(0)} ms, ${(ours / bare).toFixed(1)} of the bare one`],
      ...times.map(([name, ms]) => [
        `hookwright ${name}`,
        `${ms.toFixed(0)} ms, ${(ms / version).toFixed(1)} of --version`,
      ]),
    ];
  },
};
