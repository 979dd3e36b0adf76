/**
 * A few cells of the crash matrix, on both engines. `npm run test:long -- crash` runs the whole matrix and a long
 * series of random kills; HOOKWRIGHT_SEED repeats a row.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { testDatabase } from '../helpers/postgres/database.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { JOB_MATRIX, runJobCell } from './jobs.ts';
import type { Cell } from './matrix.ts';
import { MATRIX, runCell } from './matrix.ts';
import { killAtRandom } from './random-kills.ts';

const IS_LONG = process.env.HOOKWRIGHT_LONG_TESTS === '1';

/** A point, and which time it is reached. */
const SHORT = new Set(['run.stored 1', 'delivery.sent 1', 'commit.committed 1']);
const SHORT_POSTGRES = new Set(['commit.applied 1', 'delivery.sent 1']);
const SHORT_JOBS = new Set(['run.answered 1']);

const isIn =
  (short: ReadonlySet<string>) =>
  ({ point, nth }: { readonly point: string; readonly nth: number }): boolean =>
    IS_LONG || short.has(`${point} ${nth}`);

const counts = ({ acknowledged, dispatches, repeatedRuns }: Cell): string =>
  `${acknowledged} acknowledged before the kill, ${dispatches} dispatches stored, ${repeatedRuns} runs repeated`;

describe('a killed process', { concurrency: 2 }, () => {
  for (const kill of MATRIX.filter(isIn(SHORT))) {
    it(`loses and doubles nothing when killed at ${kill.point}, time ${kill.nth}`, async (t) => {
      const cell = await runCell(tempDir(t), kill);
      t.diagnostic(counts(cell));
      assert.deepEqual(cell.wrong, []);
    });
  }

  for (const kill of MATRIX.filter(isIn(SHORT_POSTGRES))) {
    it(`loses and doubles nothing on PostgreSQL when killed at ${kill.point}, time ${kill.nth}`, {
      skip: skipWithoutPostgres(),
    }, async (t) => {
      const cell = await runCell(tempDir(t), kill, { url: await testDatabase(t), schema: 'crash' });
      t.diagnostic(counts(cell));
      assert.deepEqual(cell.wrong, []);
    });
  }

  for (const kill of JOB_MATRIX.filter(isIn(SHORT_JOBS))) {
    it(`finishes a job's run, and fires no other, when killed at ${kill.point}, time ${kill.nth}`, async (t) => {
      assert.deepEqual(await runJobCell(tempDir(t), kill), []);
    });
  }

  it('loses and doubles nothing when killed at random under load', async (t) => {
    const seed = IS_LONG ? Number(process.env.HOOKWRIGHT_SEED ?? randomInt(2 ** 31)) : 16;
    const row = IS_LONG ? { kills: 40, events: 120, lifeMs: 600 } : { kills: 2, events: 60, lifeMs: 200 };
    const report = await killAtRandom({ home: tempDir(t), ...row, seed });
    t.diagnostic(`${report.repeatedRuns} runs repeated, HOOKWRIGHT_SEED=${seed}`);
    assert.deepEqual(report.wrong, []);
    assert.equal(report.events, row.kills * row.events);
  });
});
