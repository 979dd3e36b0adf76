/** The disk of a cell: unchanged, or slower. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { findDiskTool } from '../../../test/helpers/disk/disk-tool.ts';
import { tempFolder } from '../../harness/config.ts';
import type { GatewayOptions } from '../../harness/gateway.ts';
import { median } from '../../harness/stats.ts';

export interface SlowDisks {
  /** The tool that slows it down. */
  readonly name: string;
  /** @param syncMs minimum time of a sync */
  disk(syncMs: number): GatewayOptions['disk'];
  print(syncMs: number): string;
}

/** @param diskMb speed of the disk, in MB per second @throws Error when a disk cannot be slowed down */
export function slowDisks(syncs: readonly number[], diskMb: number | undefined): SlowDisks {
  const print = (syncMs: number): string => (diskMb === undefined ? `${syncMs} ms` : `${syncMs} ms, ${diskMb} MB/s`);
  if (diskMb === undefined && syncs.every((sync) => sync === 0)) return { name: 'nothing', disk: () => null, print };
  const tool = findDiskTool();
  if (tool === null)
    throw new Error('a slower disk needs a C compiler or strace (apt-get install strace); or --sync 0');
  const speed = diskMb === undefined ? {} : { bytesPerSecond: diskMb * 1e6 };
  const disk = (syncMs: number) => (syncMs === 0 && diskMb === undefined ? null : { tool, syncMs, ...speed });
  return { name: tool.name, disk, print };
}

/** Median of some syncs of this disk, after 8 KB each, in ms. */
export function measureSync(): number {
  const file = openSync(join(tempFolder(), 'sync'), 'w');
  const times = Array.from({ length: 50 }, () => {
    writeSync(file, Buffer.alloc(8192));
    const started = performance.now();
    fdatasyncSync(file);
    return performance.now() - started;
  });
  closeSync(file);
  return median(times);
}
