/** Starts a program of this repository that ends with this process, and what it has started as well. */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';

/** In a group of its own, because compilers are programs that a program of Node.js starts and waits for; TypeScript's goes on after SIGTERM. */
export function startOwned(args: readonly string[], options: Pick<SpawnOptions, 'cwd' | 'stdio'>): ChildProcess {
  const child = spawn(process.execPath, args, { ...options, detached: true });
  const { pid } = child;
  const end = () => {
    // It has not been waited for, so its id is not that of another group.
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
  };
  process.prependOnceListener('exit', end);
  return child.once('close', () => process.off('exit', end));
}
