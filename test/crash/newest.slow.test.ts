/**
 * The newest event of a session runs and is posted once, and nothing of a replaced one is, whatever is killed. Each event has one
 * mark that shows its state.
 * `npm run test:long -- crash/newest` is the long form: 2,000 events of 50 sessions, and 30 kills.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { testDatabase } from '../helpers/postgres/database.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { killInTurns } from './turns.ts';

const IS_LONG = process.env.HOOKWRIGHT_LONG_TESTS === '1';
const ROW = IS_LONG
  ? { keys: 50, events: 40, kills: 30, runMs: 5, seed: 11 }
  : { keys: 20, events: 15, kills: 5, runMs: 5, seed: 11 };

describe('newer events over kills', () => {
  for (const gateways of [1, 3]) {
    const onPostgres = gateways > 1;
    const skip = onPostgres ? skipWithoutPostgres() : false;
    it(`${gateways} gateway${onPostgres ? 's' : ''}: the last one runs, no replaced one is posted`, {
      skip,
    }, async (t) => {
      const database = onPostgres ? { url: await testDatabase(t), schema: 'newest' } : null;
      const report = await killInTurns({ ...ROW, newest: true, gateways, home: tempDir(t), database });
      const { runs, posts, repeated } = report;
      t.diagnostic(`${runs} runs, ${posts} posts, ${repeated} begun again`);
      assert.deepEqual(report.wrong, []);
      assert.ok(posts < ROW.keys * ROW.events && posts >= ROW.keys);
    });
  }
});
