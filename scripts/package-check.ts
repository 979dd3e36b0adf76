/**
 * `npm run package-check`, for CI: checks what would be published with `publint` (entry points, formats) and
 * `@arethetypeswrong/cli` (types, as every kind of consumer resolves them). Both are run by `npx` and pinned here. A
 * registry that cannot be asked fails nothing: that says nothing about the package.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 180_000;

/** The package is ESM alone, so what `require` and the resolution of Node.js 10 make of it does not count. */
const TOOLS = [
  ['publint@0.3.14', 'run', '--strict'],
  ['@arethetypeswrong/cli@0.18.5', '--profile', 'esm-only'],
] as const;

const canBeHad = (name: string): boolean =>
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
    if (canBeHad(tool)) {
      const { status } = spawnSync('npx', ['--yes', tool, ...options, tarball], { cwd: folder, stdio: 'inherit' });
      passed &&= status === 0;
    } else console.log(`${tool}: the registry could not be asked`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(passed ? 0 : 1);
