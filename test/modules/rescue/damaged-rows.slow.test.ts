/** Each column of each table is damaged in each way: the file opens, what is damaged is said, and the other work is taken. */
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
    it(`(${name}) in any column stops nothing else, and is said`, async () => {
      assert.deepEqual((await runRows(home, name)).wrong, []);
    });
  }
});
