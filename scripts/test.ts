/** Runs the test files under `test/` (or those named by a path fragment on the command line) with node:test. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
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
const run = spawnSync(process.execPath, ['--import', 'tsx', '--test', ...files], { cwd: ROOT, stdio: 'inherit' });
process.exit(run.status ?? 1);
