/** Damage of the log is said at the next start; what every kill may leave is not called damage. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { tempDir } from '../helpers/temp-dir.ts';
import { killWithLog, runDamage } from './damage.ts';
import { notYet } from './not-yet.ts';
import type { Damage } from './wal.ts';
import { DAMAGES } from './wal.ts';

async function wrongAfter(home: string, damages: readonly Damage[]) {
  const killed = await killWithLog(join(home, 'killed'), false);
  const results = await Promise.all(damages.map((damage) => runDamage(killed, join(home, damage.name), damage)));
  return results.filter(({ wrong }) => wrong.length > 0).map(({ name, wrong }) => [name, ...wrong]);
}

describe('a log that was spoiled after a kill', { concurrency: 2 }, () => {
  it('is left alone without a word when only its tail is torn', async (t) => {
    const torn = DAMAGES.filter(({ said }) => !said);
    assert.deepEqual(await wrongAfter(tempDir(t), torn), []);
  });

  it('is set aside, and the log, doctor and status say so', { skip: notYet('damage is said') }, async (t) => {
    const damaged = DAMAGES.filter(({ said }) => said);
    assert.deepEqual(await wrongAfter(tempDir(t), damaged), []);
  });
});
