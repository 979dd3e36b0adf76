/**
 * Latencies when requests arrive by the clock, at typical rates and at twice the gateway's capacity, on a slower disk.
 * They are measured from the moment at which the sender wanted to send.
 */
import { buildProgram } from '../harness/build.ts';
import { withGateway } from '../harness/gateway.ts';
import type { Case, Lab } from '../lab.ts';
import { atRate, bareAtRate } from './open-loop/at-rate.ts';
import { atTwiceCapacity } from './open-loop/at-twice-capacity.ts';
import { HEADER } from './open-loop/row.ts';
import type { SlowDisks } from './open-loop/slow-disk.ts';
import { measureSync, slowDisks } from './open-loop/slow-disk.ts';

const OVERLOAD = '2x';
const RATES = ['100', '300', '500', '1000', OVERLOAD];
const SYNCS = [0, 5, 10];
/** The defaults of a cell. */
const SECONDS = { full: 10, quick: 4 };

/** The bare server and ours at one rate; or ours at twice its capacity. */
async function rowsAt(lab: Lab, word: string, disks: SlowDisks): Promise<string[][]> {
  const { sync: syncs = SYNCS, durability } = lab.options;
  const seconds = lab.options.seconds ?? (lab.quick ? SECONDS.quick : SECONDS.full);
  const bare = word === OVERLOAD ? null : await bareAtRate(lab, Number(word), seconds);
  const rows = bare === null ? [] : [bare.row];
  for (const sync of syncs) {
    const cell = { sync, disk: disks.print(sync), seconds };
    const row = await withGateway({ durability, disk: disks.disk(sync) }, (gateway) =>
      bare === null ? atTwiceCapacity(lab, gateway, cell) : atRate(lab, gateway, { ...cell, rate: Number(word), bare }),
    );
    rows.push(row);
  }
  return rows;
}

export const openLoopCase: Case = {
  name: 'open-loop',
  title: 'Open loop: 21 KB events by the clock, latency from the moment each was due, the built program',
  header: HEADER,
  async run(lab) {
    const { rate: rates = RATES, sync: syncs = SYNCS, durability, diskMb } = lab.options;
    const disks = slowDisks(syncs, diskMb);
    buildProgram();
    const sync = `a sync of this disk takes ${measureSync().toFixed(2)} ms, a slower one through ${disks.name}`;
    console.log(`durability ${durability}; ${sync}\n`);
    const rows: string[][] = [];
    for (const word of rates) rows.push(...(await rowsAt(lab, word, disks)));
    return rows;
  },
};
