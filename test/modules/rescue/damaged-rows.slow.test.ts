/** Damages each column of each table in each way: the file opens, the damage is reported, and other work is taken. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { RowHome } from '../../faults/row-damage.ts';
import { makeRows, ROW_DAMAGES, runRows } from '../../faults/row-damage.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

describe('a damaged value', () => {
  const root = tempDir({ after: () => {} });
  let home: RowHome;
  before(async () => {
    home = await makeRows(root);
  });

  for (const name of Object.keys(ROW_DAMAGES)) {
    it(`(${name}) in any column stops nothing else, and is reported`, async () => {
      assert.deepEqual((await runRows(home, name)).wrong, []);
    });
  }
});
