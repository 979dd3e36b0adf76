/** A slow or failing disk, and a record of system calls, through strace. */
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskCall, DiskCalls, DiskPlan, DiskTool, Wrapped } from './disk-plan.ts';

const CALLS: Readonly<Record<DiskCall, string>> = {
  sync: 'fsync,fdatasync',
  write: 'write,pwrite64,writev,pwritev',
};

/** strace takes whole paths only. */
const FILES = ['state.db', 'state.db-wal', 'state.db-journal'];

/**
 * Follows threads and children. Stops a process only at the given calls; otherwise every call costs some 20 us. The
 * started process stays the direct child.
 */
const FLAGS = ['-D', '-f', '--seccomp-bpf', '-qq'];

/** True if strace is installed and may trace. */
export function hasStrace(): boolean {
  return spawnSync('strace', [...FLAGS, '-e', 'trace=fsync', '-o', '/dev/null', 'true']).status === 0;
}

/** The process under strace, its `calls` recorded in the file `log`. */
export const traced = (argv: readonly string[], calls: string, log: string, more: readonly string[]): Wrapped => ({
  argv: ['strace', ...FLAGS, '-o', log, '-e', `trace=${calls}`, ...more, ...argv],
  env: {},
});

export const straceTool: DiskTool = { name: 'strace', wrap, countCalls };

function wrap(
  argv: readonly string[],
  { home, syncMs = 0, bytesPerSecond = 0, stallMs = 0, fault, log }: DiskPlan,
): Wrapped {
  if (bytesPerSecond > 0 || stallMs > 0) throw new Error('strace cannot slow a disk down by what is written');
  const us = Math.round(syncMs * 1000);
  const slow = us > 0 ? ['-e', `inject=${CALLS.sync}:delay_exit=${us}`] : [];
  return traced(argv, `${CALLS.sync},${CALLS.write}`, log ?? '/dev/null', [
    ...FILES.flatMap((file) => ['-P', join(realpathSync(home), file)]),
    ...slow,
    ...(fault === undefined ? [] : ['-e', injection(fault)]),
  ]);
}

/** strace counts the calls of each thread separately. */
function injection({ call, error, nth, lastsMs }: NonNullable<DiskPlan['fault']>): string {
  if (lastsMs > 0) throw new Error('strace cannot have calls fail for some time');
  return `inject=${CALLS[call]}:error=${error}:when=${nth}..${nth}`;
}

/** The calls of the thread that made the most. */
function countCalls(log: string): DiskCalls {
  const lines = log.split('\n').filter((line) => !line.includes(' resumed>'));
  const most = (call: DiskCall): number => {
    const names = new RegExp(`^(\\d+) +(?:${CALLS[call].replaceAll(',', '|')})\\(`);
    const counts = new Map<string, number>();
    for (const line of lines) {
      const thread = names.exec(line)?.[1];
      if (thread !== undefined) counts.set(thread, (counts.get(thread) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  };
  return { sync: most('sync'), write: most('write'), failed: log.split('(INJECTED)').length - 1 };
}
