/** Stores of the previous formats, with pending work of every kind. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { FORMAT, formatOf } from '../../../../runtime/store/sqlite/schema.ts';
import { makeTake } from '../../../helpers/dispatches.ts';
import { openOfflineStore } from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { find } from '../conformance/subject.ts';
import { endAll } from '../migration/outcome.ts';

for (const format of [7, 8])
  it(`a store of format ${format} continues its work, and has the tables of a new one`, async (t) => {
    const path = storeOf(t, format);
    const store = await openOfflineStore(path);
    assert.deepEqual(lanesOf(path), ['["default","email"]', '["default","log"]', '["default","telegram"]']);
    await endAll(store);
    await store.close();
    const fresh = join(tempDir(t), 'state.db');
    await (await openOfflineStore(fresh)).close();
    const [migrated, created] = [path, fresh].map(shapeOf);
    assert.deepEqual(migrated, created);
  });

it('a store of format 8 keeps which deliveries wait, were reported, and were rejected', async (t) => {
  const store = await openOfflineStore(storeOf(t, 8));
  t.after(() => store.close());
  const blocked = await store.read({ kind: 'blocked' });
  assert.deepEqual(
    blocked.map(({ id, blocked_by, since, told_at }) => [id, blocked_by, since, told_at !== null]),
    [
      ['approval-1', 'approval', 1000, false],
      ['approval-2', 'approval', 1000, true],
    ],
  );
  const { attempts } = await store.write(makeTake(4000, { holder: 'next process' }));
  const { ref } = (await find(store, 'refused-1')) ?? {};
  assert.deepEqual(
    attempts.filter(({ unsent }) => unsent !== undefined),
    [{ ref, index: 0, unsent: 'refused' }],
  );
});

function storeOf(t: TestContext, format: number): string {
  const path = join(tempDir(t), 'state.db');
  const old = connect(path, { busyMs: 0 });
  old.exec(readFileSync(new URL(`../migration/format-${format}.sql`, import.meta.url), 'utf8'));
  old.close();
  return path;
}

/** Deliveries to `messenger_a` wait with those to `telegram`. */
function lanesOf(path: string): readonly string[] {
  const db = connect(path, { busyMs: 1000 });
  try {
    return db.query<[string]>('SELECT DISTINCT lane FROM delivery ORDER BY lane').all().flat();
  } finally {
    db.close();
  }
}

/** The columns and indexes of all tables, in any order. */
function shapeOf(path: string): readonly string[] {
  const db = connect(path, { busyMs: 0 });
  try {
    assert.equal(formatOf(db), FORMAT);
    const columns = db.query<[string, string]>(
      "SELECT m.name, c.name || ' ' || c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type IN ('table', 'index')",
    );
    const indexes = db.query<[string, string]>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    );
    return [...columns.all(), ...indexes.all()].map((row) => row.join(': ').replaceAll(/\s+/g, ' ')).sort();
  } finally {
    db.close();
  }
}
