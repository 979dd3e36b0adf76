/**
 * The cluster storm; `npm run test:long -- storm` is its long form. HOOKWRIGHT_SEED repeats the order of its faults.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { it } from 'node:test';
import { skipWithoutCluster } from '../../../helpers/postgres/binaries.ts';
import type { ChaosPlan } from './chaos.ts';
import { storm } from './storm.ts';

const isLong = process.env.HOOKWRIGHT_LONG_TESTS === '1';

const SHORT: ChaosPlan = { kills: 2, pauses: 0, databaseKills: 1, cuts: [{ directions: ['up', 'down'], ms: 500 }] };
/** 22 + 4 + 3 + 5: a cut of 20 s outlasts every time-out of the gateway, and its lease. */
const LONG: ChaosPlan = {
  kills: 22,
  pauses: 4,
  databaseKills: 3,
  cuts: [
    { directions: ['up', 'down'], ms: 3000 },
    { directions: ['up', 'down'], ms: 20_000 },
    { directions: ['up'], ms: 12_000 },
    { directions: ['down'], ms: 3000 },
    { directions: ['down'], ms: 20_000 },
  ],
};

it('a cluster loses and doubles nothing under faults', { skip: skipWithoutCluster() }, async (t) => {
  const seed = Number(process.env.HOOKWRIGHT_SEED ?? (isLong ? randomInt(2 ** 31) : 19));
  const say = isLong ? (what: string): void => console.log(what) : (): void => {};
  const size = isLong ? { events: 20_000, perSecond: 80 } : { events: 300, perSecond: 100 };
  say(`HOOKWRIGHT_SEED=${seed}`);
  const report = await storm(t, {
    ...(isLong ? LONG : SHORT),
    ...size,
    seed,
    settleMs: 400_000,
    say,
  });
  const { wrong, ...figures } = report;
  say(JSON.stringify(figures));
  assert.deepEqual(wrong.slice(0, 20), []);
  assert.ok(figures.superseded > 0 && figures.instants > 0, JSON.stringify(figures));
});
