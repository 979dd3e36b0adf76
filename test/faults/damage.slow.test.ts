/** Damage of the log is reported at the next start; the effects of an ordinary kill are not. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tempDir } from '../helpers/temp-dir.ts';
import type { KilledHome } from './damage.ts';
import { killWithLog, runDamage } from './damage.ts';
import type { Damage } from './wal.ts';
import { DAMAGES } from './wal.ts';

/** The damage of the short form; the long one has all. */
const SHORT: ReadonlySet<string> = new Set([
  ...['none', 'last frame cut off', 'byte of a page in the middle', 'byte of the head'],
]);

describe('a log that was damaged after a kill', () => {
  const root = tempDir({ after: (clean) => after(clean as () => void) });
  let killed: KilledHome;
  before(async () => {
    killed = await killWithLog(join(root, 'killed'), false);
  });

  async function wrongAfter(said: Damage['said']) {
    const damages = DAMAGES.filter((damage) => SHORT.has(damage.name) && damage.said === said);
    const results = await Promise.all(damages.map((damage) => runDamage(killed, join(root, damage.name), damage)));
    return results.filter(({ wrong }) => wrong.length > 0).map(({ name, wrong }) => [name, ...wrong]);
  }

  it('is left alone without a report when it is whole', async () => {
    assert.deepEqual(await wrongAfter(false), []);
  });

  it('is reported when its tail was acknowledged and is missing', async () => {
    assert.deepEqual(await wrongAfter('if lost'), []);
  });

  it('is quarantined, and the log, doctor and status report it', async () => {
    assert.deepEqual(await wrongAfter(true), []);
  });
});
