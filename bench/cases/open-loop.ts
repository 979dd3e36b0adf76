/**
 * Latencies when requests come by the clock, at rates that senders cause and at twice what the gateway can take, on a disk
 * whose syncs take longer than this one's: what a sender sees, counted from the moment at which it wanted to send.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { DiskTool } from '../../test/helpers/disk/disk-plan.ts';
import { findDiskTool } from '../../test/helpers/disk/disk-tool.ts';
import { ROOT } from '../harness/build.ts';
import { tempFolder } from '../harness/config.ts';
import { withGateway } from '../harness/gateway.ts';
import type { Case } from '../harness/lab.ts';
import { median } from '../harness/stats.ts';
import { atRate, bareAtRate } from './open-loop/at-rate.ts';
import { atTwiceCapacity } from './open-loop/at-twice-capacity.ts';
import { HEADER } from './open-loop/row.ts';

const RATES = ['100', '300', '500', '1000', '2x'];
const SYNCS = [0, 5, 10];
/** What a cell takes, unless it is told otherwise. */
const SECONDS = { full: 10, quick: 4 };

export const openLoopCase: Case = {
  name: 'open-loop',
  title: 'Open loop: 21 KB events by the clock, latency from the moment each was due, the built program',
  header: HEADER,
  async run(lab) {
    const { rate: rates = RATES, sync: syncs = SYNCS, durability } = lab.options;
    const seconds = lab.options.seconds ?? (lab.quick ? SECONDS.quick : SECONDS.full);
    spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const tool = slowDisk(syncs);
    console.log(
      `durability ${durability}; a sync of this disk takes ${syncMs().toFixed(2)} ms; a slower one through ${tool?.name ?? 'nothing'}\n`,
    );
    const rows: string[][] = [];
    for (const word of rates) {
      const isOverload = word === '2x';
      const bare = isOverload ? null : await bareAtRate(lab, Number(word), seconds);
      if (bare !== null) rows.push(bare.row);
      for (const sync of syncs) {
        const disk = tool === null || sync === 0 ? null : { tool, syncMs: sync };
        const row = await withGateway({ durability, disk }, (gateway) =>
          isOverload
            ? atTwiceCapacity(lab, gateway, sync, seconds)
            : atRate(lab, gateway, { rate: Number(word), sync, seconds, bare }),
        );
        rows.push(row);
      }
    }
    return rows;
  },
};

function slowDisk(syncs: readonly number[]): DiskTool | null {
  if (syncs.every((sync) => sync === 0)) return null;
  const tool = findDiskTool();
  if (tool === null)
    throw new Error('a slower disk needs a C compiler or strace (apt-get install strace); or --sync 0');
  return tool;
}

/** Median of some syncs after 8 KB each. */
function syncMs(): number {
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
