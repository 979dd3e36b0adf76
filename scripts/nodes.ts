/**
 * `npm run test:nodes [-- fragment …]`: runs the tests on every supported version of Node.js. The versions are installed as
 * packages in `build/nodes/`, which git ignores.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VERSIONS = ['20.19.0', '22', '24', '26'];
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** Returns the executable of a version, and installs it if missing. Null: the version is unavailable. */
function nodeOf(version: string): string | null {
  const folder = join(ROOT, 'build/nodes', version);
  const program = join(folder, 'node_modules', PACKAGE, 'bin/node');
  if (existsSync(program)) return program;
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--prefix', folder];
  spawnSync('npm', ['install', ...options, `${PACKAGE}@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  return existsSync(program) ? program : null;
}

const fragments = process.argv.slice(2);
const failed: string[] = [];
for (const version of VERSIONS) {
  const node = nodeOf(version);
  if (node === null) {
    failed.push(`${version} (unavailable)`);
    continue;
  }
  // Programs that the tests start must also use this version.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
  console.log(`# Node.js ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
  const { status } = spawnSync(node, ['--import', 'tsx', join(ROOT, 'scripts/test.ts'), ...fragments], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
  if (status !== 0) failed.push(version);
}
console.log(failed.length === 0 ? `passed on ${VERSIONS.join(', ')}` : `failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
