/**
 * Runs the test files under `test/`, or those whose path holds a fragment named on the command line, with node:test.
 * Files share a few processes: starting one for each would cost more than the tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** More shards than cores: many tests wait for processes and sockets. */
const SHARDS = 6;

const wanted = process.argv.slice(2);
const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => join('test', file))
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(2);
}

/** One module that imports several test files, so that they run in one process. */
function writeShards(folder: string): string[] {
  const count = Math.min(SHARDS, files.length);
  return Array.from({ length: count }, (_unused, shard) => {
    const imports = files
      .filter((_file, index) => index % count === shard)
      .map((file) => `import ${JSON.stringify(pathToFileURL(join(ROOT, file)).href)};`);
    const path = join(folder, `shard-${shard + 1}.test.mjs`);
    writeFileSync(path, `${imports.join('\n')}\n`);
    return path;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'hookwright-test-'));
const run = spawnSync(
  process.execPath,
  ['--import', 'tsx', '--test', `--test-concurrency=${SHARDS}`, ...writeShards(folder)],
  { cwd: ROOT, stdio: 'inherit' },
);
rmSync(folder, { recursive: true, force: true });
process.exit(run.status ?? 1);
