/** The short form of `npm run test:crash`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { testDatabase } from '../helpers/postgres/database.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { JOB_MATRIX, runJobCell } from './jobs.ts';
import { MATRIX, runCell } from './matrix.ts';
import type { KillPoint } from './protocol.ts';
import { killAtRandom } from './random-kills.ts';

const SHORT: ReadonlySet<KillPoint> = new Set([
  ...(['accept.stored', 'run.stored', 'delivery.sent', 'commit.committed'] as const),
]);

const SHORT_POSTGRES: ReadonlySet<KillPoint> = new Set([
  'commit.applied',
  'commit.committed',
  'delivery.sent',
] as const);

/** Point and how many times it is reached. */
const SHORT_JOBS = new Set(['commit.applied 4', 'run.answered 1']);

describe('a killed process', { concurrency: 2 }, () => {
  for (const kill of MATRIX.filter(({ point, nth }) => SHORT.has(point) && nth === 1)) {
    it(`loses and doubles nothing when killed at ${kill.point}`, async (t) => {
      assert.deepEqual((await runCell(tempDir(t), kill)).wrong, []);
    });
  }

  for (const kill of MATRIX.filter(({ point, nth }) => SHORT_POSTGRES.has(point) && nth === 1)) {
    it(`loses and doubles nothing on PostgreSQL when killed at ${kill.point}`, {
      skip: skipWithoutPostgres(),
    }, async (t) => {
      const database = { url: await testDatabase(t), schema: 'crash' };
      assert.deepEqual((await runCell(tempDir(t), kill, database)).wrong, []);
    });
  }

  for (const kill of JOB_MATRIX.filter(({ point, nth }) => SHORT_JOBS.has(`${point} ${nth}`))) {
    it(`finishes a job's run, and fires no other, when killed at ${kill.point}`, async (t) => {
      assert.deepEqual(await runJobCell(tempDir(t), kill), []);
    });
  }

  it('loses and doubles nothing when killed at random under load', async (t) => {
    const report = await killAtRandom({ home: tempDir(t), kills: 2, events: 60, lifeMs: 200, seed: 16 });
    assert.deepEqual(report.wrong, []);
    assert.equal(report.events, 120);
  });
});
