/**
 * `npm run package-check`, for CI: has `publint` and `attw` judge what would be published: entry points, types, formats.
 * They are run by `npx` and pinned here. A registry that cannot be asked fails nothing: that says nothing about the package.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TIMEOUT_MS = 180_000;

/** Types are for ES modules only, and schemas and `package.json` are no code. */
const TOOLS = [
  { name: 'publint@0.3.14', args: ['run', '--strict'], flags: [] },
  {
    name: '@arethetypeswrong/cli@0.18.2',
    args: [],
    flags: ['--profile', 'esm-only', '--exclude-entrypoints', './schemas/*', './package.json'],
  },
];

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
  for (const { name, args, flags } of TOOLS) {
    if (!canBeHad(name)) {
      console.log(`${name}: the registry could not be asked`);
      continue;
    }
    const run = spawnSync('npx', ['--yes', name, ...args, tarball, ...flags], { cwd: folder, stdio: 'inherit' });
    passed &&= run.status === 0;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(passed ? 0 : 1);
