import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkStore } from '../../../../modules/setup/cli/doctor/check-store.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { contextFor } from '../../../helpers/cli.ts';
import { makeAccept, makeAdvance, makeDispatch, makeTake } from '../../../helpers/dispatches.ts';
import { openOfflineStore } from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

describe('checkStore', () => {
  it('passes a store with consistent counts and fails one with a missing dispatch', async (t) => {
    const home = tempDir(t);
    const path = join(home, 'state.db');
    const store = await openOfflineStore(path);
    for (const id of ['a', 'b']) await store.write(makeAccept(id));
    await store.close();
    const fine = await checkStore(contextFor({ home }), null);
    assert.deepEqual(
      fine.map(({ status }) => status),
      ['ok'],
    );
    const db = connect(path, { busyMs: 5000 });
    db.exec("DELETE FROM work WHERE ref = 1; DELETE FROM dispatch WHERE id = 'a'");
    db.close();
    const found = await checkStore(contextFor({ home }), null);
    assert.deepEqual(
      found.map(({ check, status }) => [check, status]),
      [['undamaged', 'failed']],
    );
    assert.match(found[0]?.detail ?? '', /"damaged".*\bcounts of routes\b/);
  });

  it('reports the dead deliveries and their age', async (t) => {
    const home = tempDir(t);
    const store = await openOfflineStore(join(home, 'state.db'));
    const now = Date.now();
    for (const [id, route, age] of [
      ['a', 'alerts', 7_200_000],
      ['b', 'alerts', 60_000],
      ['c', null, 300_000],
    ] as const) {
      const dispatch = makeDispatch(id, { route, job: route === null ? 'standup' : null, delivery_id: id });
      const stored = await store.write(makeAccept(id, { dispatch, claim: null }));
      await store.write(makeTake(5000));
      await store.write(makeAdvance('ref' in stored ? stored.ref : 0, 'dead', now - age, { reason: 'gone' }));
    }
    await store.close();
    const [, dead] = await checkStore(contextFor({ home }), null);
    assert.equal(dead?.status, 'warning');
    assert.match(dead?.detail ?? '', /^3 .*\b2 of alerts\b.*\b2 h\b.*\b1 of job standup\b.*\b5 min/);
    assert.match(dead?.fix ?? '', /deliveries list --state dead/);
  });
});
