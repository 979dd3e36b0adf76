/**
 * `npm run package-check`, for CI: has `publint` check what would be published: entry points, types, formats. It is run by
 * `npx` and pinned here. A registry that cannot be asked fails nothing: that says nothing about the package.
 * `@arethetypeswrong/cli` 0.18.2 cannot read this package's tarball; test/examples/embed.test.ts checks the types as a
 * consumer does, with `nodenext` and `bundler`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 180_000;

const TOOL = 'publint@0.3.14';

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
  if (canBeHad(TOOL)) {
    const run = spawnSync('npx', ['--yes', TOOL, 'run', '--strict', tarball], { cwd: folder, stdio: 'inherit' });
    passed = run.status === 0;
  } else console.log(`${TOOL}: the registry could not be asked`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(passed ? 0 : 1);
