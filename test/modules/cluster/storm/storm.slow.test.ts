/**
 * The storm; `npm run test:long -- storm` is its long form. HOOKWRIGHT_SEED repeats the order of its faults.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { createPreload } from '../../../helpers/disk/preload.ts';
import { skipWithoutCluster } from '../../../helpers/postgres/binaries.ts';
import type { ChaosPlan } from './chaos.ts';
import { storm } from './storm.ts';

const isLong = process.env.HOOKWRIGHT_LONG_TESTS === '1';

const SHORT: ChaosPlan = {
  ...{ kills: 2, pauses: 0, databaseKills: 1, stalls: [1000] },
  cuts: [{ directions: ['up', 'down'], ms: 500 }],
};
/** 22 + 4 + 3 + 5 + 6: a cut of 20 s outlasts every time-out of the gateway, and its lease. */
const LONG: ChaosPlan = {
  ...{ kills: 22, pauses: 4, databaseKills: 3, stalls: [1000, 2000, 3000, 1000, 2000, 3000] },
  cuts: [
    { directions: ['up', 'down'], ms: 3000 },
    { directions: ['up', 'down'], ms: 20_000 },
    { directions: ['up'], ms: 12_000 },
    { directions: ['down'], ms: 3000 },
    { directions: ['down'], ms: 20_000 },
  ],
};
/** Kills and pauses of the gateway: its disk stalls by itself. */
const alone = ({ kills, pauses }: ChaosPlan): ChaosPlan => ({ kills, pauses, databaseKills: 0, stalls: [], cuts: [] });

const FLAP_MS = isLong ? 5000 : 700;
const disk = createPreload();

describe('loses and doubles nothing under faults, and keeps nothing that it refused', () => {
  for (const [name, skip, tool] of [
    ['three gateways on a database', skipWithoutCluster(), null],
    ['one gateway on a disk that stalls', disk === null && 'needs gcc', disk],
  ] as const) {
    it(name, { skip }, async (t) => {
      const seed = Number(process.env.HOOKWRIGHT_SEED ?? (isLong ? randomInt(2 ** 31) : 19));
      const say = isLong ? (what: string): void => console.log(what) : (): void => {};
      const size = isLong
        ? { events: Number(process.env.HOOKWRIGHT_EVENTS ?? 20_000), perSecond: 80 }
        : { events: 300, perSecond: 100 };
      say(`HOOKWRIGHT_SEED=${seed}`);
      const plan = isLong ? LONG : SHORT;
      const report = await storm(t, {
        ...(tool === null ? plan : alone(plan)),
        ...{ ...size, seed, disk: tool, flapMs: FLAP_MS, settleMs: 400_000, say },
      });
      const { wrong, ...figures } = report;
      say(JSON.stringify(figures));
      assert.deepEqual(wrong.slice(0, 20), []);
      assert.equal(figures.open, 0);
      assert.ok(figures.superseded > 0 && figures.instants > 0 && figures.missed > 0, JSON.stringify(figures));
    });
  }
});
