/**
 * Runs test files with node:test: the fast ones, and with `--all` those named `*.slow.test.ts` as well. With fragments of
 * paths, those whose path holds one of them. Without fragments it does before what `npm run lint` does.
 * The repository is compiled once for all files, and a few processes share them: a process for each would cost more than
 * the tests.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endSharedServer, runEnvironment } from '../test/helpers/postgres/shared-cluster.ts';
import { buildTree } from './build/tree.ts';
import { checksWith, runChecks } from './lint/checks.ts';
import { createQueue } from './test/queue.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SLOW = '.slow.test.ts';
/** More than there are cores, because many tests wait for processes and sockets. */
const PROCESSES = 4;

/** Room for young objects: a compile makes many, and collecting them was a sixth of its time. */
const YOUNG = '--max-semi-space-size=32';

/** What takes longest, or waits longest for others, begins first, in this order: so that it is not the last to end. */
const FIRST = [
  'test/e2e/packed',
  'test/modules/console/pages',
  'test/modules/cluster/',
  'test/e2e/',
  'test/crash/',
  'test/faults/',
  'test/cli/',
];

/** Place in the queue: that of the first beginning of its path in the list, else after all of them. */
function turnOf(file: string): number {
  const turn = FIRST.findIndex((path) => file.startsWith(path));
  return turn < 0 ? FIRST.length : turn;
}

const all = process.argv.includes('--all');
const fragments = process.argv.slice(2).filter((argument) => argument !== '--all');
const isWhole = fragments.length === 0;

const named = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => join('test', file))
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => isWhole || fragments.some((fragment) => file.includes(fragment)))
  .sort()
  .sort((a, b) => turnOf(a) - turnOf(b));
const files = all ? named : named.filter((file) => !file.endsWith(SLOW));
if (files.length === 0) {
  const command = `npm run test:all -- ${fragments.join(' ')}`;
  console.error(
    named.length === 0 ? `no test file matches ${fragments.join(' ')}` : `only slow tests match: ${command}`,
  );
  process.exit(2);
}

/** What node:test starts as processes of their own. */
function writeStarts(tree: string, run: string, processes: number): string[] {
  const queue = join(tree, 'scripts/test/run-queue.js');
  const code = `import { runQueue } from ${JSON.stringify(queue)};\nawait runQueue(...${JSON.stringify([tree, run])});\n`;
  return Array.from({ length: processes }, (_unused, at) => {
    const path = join(run, `process-${at + 1}.test.js`);
    writeFileSync(path, code);
    return path;
  });
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const end = () => process.exit(1);

/** The children get each signal, too: they end what they started, and their end is awaited. */
function runFiles(tree: string, run: string): Promise<number> {
  createQueue(run, files);
  const processes = Math.min(PROCESSES, files.length);
  // In a pipe as on a terminal: what failed stands together at the end, where a cut log still has it.
  const options = [YOUNG, '--enable-source-maps', '--test', `--test-concurrency=${processes}`, '--test-reporter=spec'];
  const argv = [...options, '--test-reporter-destination=stdout', ...writeStarts(tree, run, processes)];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: 'inherit', env: runEnvironment(run) });
  for (const signal of SIGNALS) process.off(signal, end).on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

mkdirSync(join(ROOT, 'build'), { recursive: true });
/** What the processes of this run share. */
const run = mkdtempSync(join(ROOT, 'build/test-'));
// Tests that become another user read it too.
chmodSync(run, 0o755);
/** A room is compiled into a tree that stays: only what has changed since. A whole run is not disturbed by later changes. */
const tree = isWhole ? join(run, 'tree') : join(ROOT, 'build/rooms');
process.once('exit', () => {
  endSharedServer(run);
  // What is still ending may write to it.
  rmSync(run, { recursive: true, force: true, maxRetries: 5 });
});
// Until the tests run: they get the signal as well and end, and the folder is removed after them.
for (const signal of SIGNALS) process.on(signal, end);
await buildTree(ROOT, tree, isWhole);
const checks = checksWith((name) => [join(tree, `${name}.js`)]);
if (isWhole && !(await runChecks(ROOT, checks))) process.exit(1);
process.exit(await runFiles(tree, run));
