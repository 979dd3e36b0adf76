/**
 * `npm run package-check`, for CI: checks the package before publishing with `publint` (entry points, formats) and
 * `@arethetypeswrong/cli` (types, as all kinds of consumers resolve them). `npx` runs pinned versions of both. An unavailable
 * registry is not a failure, because it says nothing about the package.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 180_000;

/** The package is ESM only, so problems with `require` and with the resolution of Node.js 10 do not count. */
const TOOLS = [
  ['publint@0.3.14', 'run', '--strict'],
  ['@arethetypeswrong/cli@0.18.5', '--profile', 'esm-only'],
] as const;

const isAvailable = (name: string): boolean =>
  spawnSync('npm', ['view', name, 'version'], { timeout: TIMEOUT_MS, stdio: 'ignore' }).status === 0;

const folder = mkdtempSync(join(tmpdir(), 'hookwright-package-'));
let passed = true;
try {
  const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const tarball = join(folder, printed.trim().split('\n').at(-1) ?? '');
  for (const [tool, ...options] of TOOLS) {
    if (isAvailable(tool)) {
      const { status } = spawnSync('npx', ['--yes', tool, ...options, tarball], { cwd: folder, stdio: 'inherit' });
      passed &&= status === 0;
    } else console.log(`${tool}: the registry is unavailable`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(passed ? 0 : 1);
