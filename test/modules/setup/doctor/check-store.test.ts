import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkStore } from '../../../../modules/setup/cli/doctor/check-store.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { openOfflineStore } from '../../../../runtime/store/sqlite/open-store.ts';
import { contextFor } from '../../../helpers/cli.ts';
import { makeAccept } from '../../../helpers/dispatches.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

describe('checkStore', () => {
  it('finds a store whose counts add up fine, and one in which a dispatch is missing broken', async (t) => {
    const home = tempDir(t);
    const path = join(home, 'state.db');
    const store = await openOfflineStore(path);
    for (const id of ['a', 'b']) await store.write(makeAccept(id));
    await store.close();
    assert.equal((await checkStore(contextFor({ home }), null)).status, 'ok');
    const db = connect(path, { busyMs: 5000 });
    db.exec("DELETE FROM work WHERE ref = 1; DELETE FROM dispatch WHERE id = 'a'");
    db.close();
    const { check, status, detail } = await checkStore(contextFor({ home }), null);
    assert.deepEqual(
      [check, status, detail],
      ['conservation', 'failed', 'default/alerts: 2 counted as pending, but 1 stored'],
    );
  });
});
