/** A slow or failing disk through a small library (preload.c) that is compiled on demand. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DiskCalls, DiskPlan, DiskTool, Wrapped } from './disk-plan.ts';
import { errnoOf, STORE_FILES } from './disk-plan.ts';

const SOURCE = fileURLToPath(new URL('./preload.c', import.meta.url));

/** Null without a C compiler, or a loader that loads such a library. */
export function createPreload(): DiskTool | null {
  if (process.platform !== 'linux') return null;
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-preload-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const library = join(folder, 'preload.so');
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl'], { encoding: 'utf8' });
  if (compiled.error !== undefined) return null;
  if (compiled.status !== 0) throw new Error(`preload.c does not compile:\n${compiled.stderr}`);
  return { name: 'preload', wrap: (argv, plan) => wrap(library, argv, plan), countCalls };
}

function wrap(library: string, argv: readonly string[], plan: DiskPlan): Wrapped {
  const { home, syncMs = 0, bytesPerSecond = 0, stallMs = 0, fault, log } = plan;
  const env = {
    LD_PRELOAD: library,
    DISK_FILES: join(realpathSync(home), STORE_FILES),
    DISK_SYNC_US: String(Math.round(syncMs * 1000)),
    DISK_STALL_US: String(stallMs * 1000),
    DISK_RATE: String(bytesPerSecond),
    ...(log === undefined ? {} : { DISK_LOG: log }),
    ...(fault === undefined
      ? {}
      : {
          DISK_FAIL: fault.call,
          DISK_ERRNO: String(errnoOf(fault.error)),
          DISK_NTH: String(fault.nth),
          DISK_LAST: String(fault.nth),
          DISK_LASTS_US: String(fault.lastsMs * 1000),
        }),
  };
  return { argv, env };
}

function countCalls(log: string): DiskCalls {
  const lines = log.split('\n');
  const count = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  return { sync: count(/^sync /), write: count(/^write /), failed: count(/ failed$/) };
}
