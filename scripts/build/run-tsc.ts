/** Runs the TypeScript compiler in the repository, with its output on the terminal. */
import { once } from 'node:events';
import { join } from 'node:path';
import { startOwned } from '../start-owned.ts';

/** @returns the exit status */
export async function runTsc(root: string, args: readonly string[]): Promise<number> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const [status] = (await once(startOwned([tsc, ...args], { cwd: root, stdio: 'inherit' }), 'close')) as [number | null];
  return status ?? 1;
}
