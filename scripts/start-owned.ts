/** Starts a program of this repository that ends with this process, together with its children. */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';

/** Uses a new process group, because compilers are children of a Node.js program that waits for them. TypeScript's ignores SIGTERM. */
export function startOwned(args: readonly string[], options: Pick<SpawnOptions, 'cwd' | 'stdio'>): ChildProcess {
  const child = spawn(process.execPath, args, { ...options, detached: true });
  const { pid } = child;
  const end = () => {
    // The process has not been reaped, so its id does not belong to another group.
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
  };
  process.prependOnceListener('exit', end);
  return child.once('close', () => process.off('exit', end));
}
