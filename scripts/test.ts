/**
 * Runs the test files under `test/`, or those whose path holds a fragment named on the command line, with node:test.
 * The repository is compiled once for all of them, and a few processes share the files: starting one for each would cost
 * more than the tests. With `--lint` it does before what `npm run lint` does, with what is compiled anyway.
 * Where `CI=true`, a few files that failed run once more, by themselves: on a machine that stalls for seconds, a test of
 * real processes can fail without a defect. What passes then is named as flaky at the end.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endSharedServer, runEnvironment } from '../test/helpers/postgres/shared-cluster.ts';
import { buildTree } from './build/tree.ts';
import { checksWith, runChecks } from './lint/checks.ts';
import { createQueue } from './test/queue.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** More than there are cores, because many tests wait for processes and sockets. */
const PROCESSES = 4;
/** If more files fail, that is not a coincidence. */
const MOST_AGAIN = 8;

/** What takes longest, or waits longest for others, begins first, in this order: so that it is not the last to end. */
const FIRST = [
  'test/e2e/packed',
  'test/compiler/blueprints/gallery-browser',
  'test/modules/setup/setup/gateway-setup',
  'test/runtime/deliver/targets',
  'test/e2e/',
  'test/crash/',
  'test/cli/',
];

/** Place in the queue: that of the first beginning of its path in the list, else after all of them. */
function turnOf(file: string): number {
  const turn = FIRST.findIndex((path) => file.startsWith(path));
  return turn < 0 ? FIRST.length : turn;
}

const lints = process.argv.includes('--lint');
const wanted = process.argv.slice(2).filter((argument) => argument !== '--lint');
const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => join('test', file))
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
  .sort((a, b) => turnOf(a) - turnOf(b));
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(2);
}

/** What node:test starts as processes of their own. */
function writeStarts(tree: string, processes: number): string[] {
  const code = `import { runQueue } from './scripts/test/run-queue.js';\nawait runQueue(${JSON.stringify(tree)});\n`;
  return Array.from({ length: processes }, (_unused, at) => {
    const path = join(tree, `process-${at + 1}.test.js`);
    writeFileSync(path, code);
    return path;
  });
}

interface Outcome {
  readonly status: number;
  /** Empty as well where a process failed outside of a test. */
  readonly failed: readonly string[];
}

function run(tree: string, of: readonly string[], processes: number): Outcome {
  createQueue(tree, of);
  const failed = join(tree, 'failed-files');
  const reporters = {
    // In a pipe as on a terminal: what failed stands together at the end, where a cut log still has it.
    spec: 'stdout',
    [join(tree, 'scripts/test/failed-files.js')]: failed,
  };
  const { status } = spawnSync(
    process.execPath,
    [
      ...['--enable-source-maps', '--test', `--test-concurrency=${processes}`],
      ...Object.entries(reporters).flatMap(([reporter, to]) => [
        ...[`--test-reporter=${reporter}`, `--test-reporter-destination=${to}`],
      ]),
      ...writeStarts(tree, processes),
    ],
    { cwd: ROOT, stdio: 'inherit', env: runEnvironment(tree) },
  );
  return { status: status ?? 1, failed: readFileSync(failed, 'utf8').split('\n').filter(Boolean) };
}

function runAgain(tree: string, failed: readonly string[]): number {
  console.log(`\nonce more, by themselves:\n${failed.join('\n')}\n`);
  const { status } = run(tree, failed, 1);
  if (status === 0) console.log(`\nFLAKY, failed and then passed:\n${failed.join('\n')}`);
  return status;
}

mkdirSync(join(ROOT, 'build'), { recursive: true });
const tree = mkdtempSync(join(ROOT, 'build/test-'));
process.once('exit', () => {
  endSharedServer(tree);
  rmSync(tree, { recursive: true, force: true });
});
// The tests get the signal as well and end; the tree is removed after them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
await buildTree(ROOT, tree, lints);
if (
  lints &&
  !(await runChecks(
    ROOT,
    checksWith((name) => [join(tree, `${name}.js`)]),
  ))
)
  process.exit(1);
const { status, failed } = run(tree, files, Math.min(PROCESSES, files.length));
const runsAgain = process.env.CI === 'true' && failed.length > 0 && failed.length <= MOST_AGAIN;
process.exit(status !== 0 && runsAgain ? runAgain(tree, failed) : status);
