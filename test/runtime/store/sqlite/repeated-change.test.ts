/** A change that is made once more, because the thread of the writer has ended, and nobody knows whether it was stored. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { encodeChange } from '../../../../runtime/store/encode.ts';
import type { Mutation } from '../../../../runtime/store/mutations.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { createApply } from '../../../../runtime/store/sqlite/handlers.ts';
import { createRows } from '../../../../runtime/store/sqlite/rows.ts';
import { createTables } from '../../../../runtime/store/sqlite/schema.ts';
import { deliveriesTo, makeAccept, makeAdvance, makeDispatch, makeTake } from '../../../helpers/dispatches.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

it('stores the outputs of a run that were not stored, and no dispatch twice', (t) => {
  const db = connect(join(tempDir(t), 'state.db'), { busyMs: 0 });
  t.after(() => db.close());
  createTables(db);
  const apply = createApply(createRows(db));
  const make = (change: Mutation, again = false): unknown => {
    const result = apply(encodeChange(change), again);
    return result.kind === 'ok' ? result.value : result;
  };
  make(makeAccept('a'));
  assert.deepEqual(make(makeAccept('a', { claim: null }), true), {
    kind: 'stored',
    ref: 1,
    superseded: 0,
    due_at: 1000,
  });
  make(makeTake(1000));
  const dispatch = makeDispatch('a', { deliveries: deliveriesTo('log', 'chat') });
  const open = dispatch.deliveries.map(({ target }, index) => ({ index, target, due_at: 2000 }));
  const outputs = makeAdvance(1, 'delivering', 2000, { answer: 'x', dispatch, grown: 0, open });
  assert.equal(make(outputs, true), true);
  assert.equal(make(outputs, true), false);
  assert.deepEqual(db.query<[number]>('SELECT count(*) FROM delivery').get(), [2]);
});
