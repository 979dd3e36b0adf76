/** Tables of the previous version, with pending work of every kind. */
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

  it('are used by a gateway of that version during an upgrade: both versions report that a run is blocked', async (t) => {
    const url = await testDatabase(t);
    await runSql(url, ROWS);
    const store = await openTestStore(url, 'hookwright');
    t.after(() => store.close());
    const rows = (where: string) =>
      runSql(url, `SELECT ref, waits_for, blocked_by FROM hookwright.work WHERE ${where} ORDER BY ref`);
    const blocked = (ref: number, by: string | null) => ({ ref: String(ref), waits_for: by, blocked_by: by });
    assert.deepEqual(await rows('ref IN (5, 6)'), [blocked(5, 'session'), blocked(6, 'session')]);
    // The statements of that version at the end of a run, and for an event.
    await runSql(url, 'UPDATE hookwright.work SET session = session, waits_for = NULL WHERE ref = 5');
    const added = "(900, '[]', 'pending', 1, 1, 's', 900, 'session')";
    await runSql(
      url,
      `INSERT INTO hookwright.work (ref, lane, state, due_at, set_at, session, turn, waits_for) VALUES ${added}`,
    );
    assert.deepEqual(await rows('ref IN (5, 900)'), [blocked(5, null), blocked(900, 'session')]);
    // The statements of this version.
    await runSql(url, 'UPDATE hookwright.work SET blocked_by = NULL WHERE ref = 6');
    assert.deepEqual(await rows('ref = 6'), [blocked(6, null)]);
  });
});
