/**
 * Runs of a session begin in the order of acceptance and never two at once, whatever is killed. `npm run test:long --
 * crash/turns` is the long form: 5 keys with 2,000 events each, and 20 kills.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { testDatabase } from '../helpers/postgres/database.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { killInTurns } from './turns.ts';

const IS_LONG = process.env.HOOKWRIGHT_LONG_TESTS === '1';
const ROW = IS_LONG
  ? { keys: 5, events: 2000, kills: 20, runMs: 1, seed: 7 }
  : { keys: 5, events: 30, kills: 2, runMs: 1, seed: 7 };

describe('turns over kills', () => {
  for (const gateways of [1, 3]) {
    const onPostgres = gateways > 1;
    const skip = onPostgres ? skipWithoutPostgres() : false;
    it(`${gateways} gateway${onPostgres ? 's' : ''}: in order, one at a time`, { skip }, async (t) => {
      const database = onPostgres ? { url: await testDatabase(t), schema: 'turns' } : null;
      const report = await killInTurns({ ...ROW, gateways, home: tempDir(t), database });
      t.diagnostic(`${report.runs} runs, ${report.repeated} begun again, ${report.ms} ms`);
      assert.deepEqual(report.wrong, []);
    });
  }
});
