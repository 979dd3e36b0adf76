/** Builds the code of child processes to plain JavaScript, because a loader at run time would be measured too. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository, found from the sources or from their built form. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));
/** Folder of the built modules; below the repository, so that they find its dependencies. */
export const BUILT = join(ROOT, 'build/bench');

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder));
}

/** The program as users get it, into `dist/`. */
export function buildProgram(): void {
  const { status } = spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the program does not build');
}

export function buildChildren(): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const run = spawnSync(process.execPath, [tsc, '-p', join(ROOT, 'bench/tsconfig.json')], { stdio: 'inherit' });
  if (run.status !== 0) throw new Error('the benches do not compile');
}
