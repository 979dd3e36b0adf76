/** Runs the TypeScript compiler in the repository; its output goes to the terminal. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** @returns the exit status */
export function runTsc(root: string, args: readonly string[]): number {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' }).status ?? 1;
}
