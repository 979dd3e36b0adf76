/** Tables of version 2, with pending work of every kind. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SCHEMA_VERSION } from '../../../../modules/cluster/runtime/postgres/schema.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { endAll } from '../../../runtime/store/migration/outcome.ts';

const ROWS = readFileSync(new URL('../../../runtime/store/migration/version-2.sql', import.meta.url), 'utf8');

describe('tables of version 2', { skip: skipWithoutPostgres() }, () => {
  it('continue with their work', async (t) => {
    const url = await testDatabase(t);
    await runSql(url, ROWS);
    const store = await openTestStore(url, 'hookwright');
    t.after(() => store.close());
    assert.deepEqual(await runSql(url, 'SELECT version FROM hookwright.schema_version'), [{ version: SCHEMA_VERSION }]);
    const lanes = await runSql<{ lane: string }>(url, 'SELECT DISTINCT lane FROM hookwright.delivery ORDER BY lane');
    assert.deepEqual(
      lanes.map(({ lane }) => lane),
      ['["default","email"]', '["default","log"]', '["default","telegram"]'],
    );
    await endAll(store);
  });
});
