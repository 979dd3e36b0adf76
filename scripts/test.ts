/**
 * Runs the fast test files with node:test, and a sample of long lists of cases (test/helpers/sample.ts); with `--all`, all cases,
 * and also the files `*.slow.test.ts`, after the checks of `npm run lint`. With fragments of paths, it runs all cases of files
 * whose path contains one of them. The repository is compiled once, with its types checked in a complete run, and a few processes
 * share the files, because a process per file would cost more than the tests.
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
/** More processes than cores, because many tests wait for processes and sockets. */
const PROCESSES = 4;

/** Space for young objects. A compile creates many, and collecting them was a sixth of its time. */
const YOUNG = '--max-semi-space-size=32';

/** Files that take longest start first, in this order, so that they are not the last to end. */
const FIRST = [
  'test/e2e/packed',
  'test/modules/console/pages',
  'test/modules/cluster/',
  'test/e2e/',
  'test/crash/',
  'test/faults/',
  'test/cli/',
];

/** Returns the position in the queue: of the first entry that is a prefix of the path, else after all entries. */
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

/** Writes the files that node:test starts as separate processes. */
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

/** The children also receive each signal. They end their own children, and this process waits for them. */
function runFiles(tree: string, run: string): Promise<number> {
  createQueue(run, files);
  const processes = Math.min(PROCESSES, files.length);
  // Also in a pipe: failures are listed at the end, where a truncated log still has them.
  const options = [YOUNG, '--enable-source-maps', '--test', `--test-concurrency=${processes}`, '--test-reporter=spec'];
  const argv = [...options, '--test-reporter-destination=stdout', ...writeStarts(tree, run, processes)];
  const env = { ...runEnvironment(run), ...(isWhole && !all ? { HOOKWRIGHT_SAMPLE_TESTS: '1' } : {}) };
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: 'inherit', env });
  for (const signal of SIGNALS) process.off(signal, end).on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

mkdirSync(join(ROOT, 'build'), { recursive: true });
/** The folder that the processes of this run share. */
const run = mkdtempSync(join(ROOT, 'build/test-'));
// Tests that run as another user also read it.
chmodSync(run, 0o755);
/** With fragments, the compiled tree is kept, and only changed files are compiled. A complete run is not disturbed by later changes. */
const tree = isWhole ? join(run, 'tree') : join(ROOT, 'build/rooms');
process.once('exit', () => {
  endSharedServer(run);
  // Ending processes may still write to it.
  rmSync(run, { recursive: true, force: true, maxRetries: 5 });
});
// Only until the tests run: they also get the signal and end, and the folder is removed afterwards.
for (const signal of SIGNALS) process.on(signal, end);
await buildTree(ROOT, tree, isWhole);
const checks = checksWith((name) => [join(tree, `${name}.js`)]);
if (isWhole && all && !(await runChecks(ROOT, checks))) process.exit(1);
process.exit(await runFiles(tree, run));
