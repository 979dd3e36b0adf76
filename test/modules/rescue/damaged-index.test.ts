/**
 * A damaged byte of an index by which work is found, or of the columns that an index repeats: the work runs, and the
 * file opens.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { quarantineRows } from '../../../modules/rescue/runtime/damaged-rows.ts';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import { makeAccept, makeAdvance, makeDispatch, makeTake, openDeliveries } from '../../helpers/dispatches.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Changes one byte of the first text of an index or table that contains this one. */
function damagePage(path: string, name: string, text: string): void {
  const db = connect(path, { busyMs: 0 });
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const [page = 0] = db.query<[number]>('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name) ?? [];
  const [size = 0] = db.query<[number]>('PRAGMA page_size').get() ?? [];
  db.close();
  const bytes = readFileSync(path);
  const at = bytes.indexOf(text, (page - 1) * size);
  assert.ok(at > 0 && at < page * size);
  bytes[at + 1] = 98;
  writeFileSync(path, bytes);
}

describe('a damaged index', () => {
  for (const [name, lane] of [
    ['work_due', '["default"'],
    ['delivery_due', '["default","a"'],
  ] as const) {
    it(`(${name}) hides no work, and is reported`, async (t) => {
      const path = join(tempDir(t), 'state.db');
      const before = await openOfflineStore(path);
      for (const id of ['a', 'b', 'c']) await before.write(makeAccept(id));
      if (name === 'delivery_due') {
        const { runs } = await before.write(makeTake(1500));
        const { deliveries } = makeDispatch('a', { deliveries: [{ target: 'a', extra: {}, unresolved: [] }] });
        const open = openDeliveries({ deliveries }, 1500);
        for (const { ref } of runs) await before.write(makeAdvance(ref, 'delivering', 1500, { answer: 'x', open }));
      }
      await before.close();
      damagePage(path, name, lane);
      const store = await openOfflineStore(path);
      const { runs, attempts } = await store.write(makeTake(3000));
      assert.equal(runs.length + attempts.length, 3);
      const { damage } = await store.read({ kind: 'overview', now: 3000 });
      assert.match(damage?.message ?? '', new RegExp(`\\b${name}\\b`));
      await store.close();
      const again = await openOfflineStore(path);
      assert.equal((await again.read({ kind: 'overview', now: 3000 })).damage?.message, damage?.message);
      await again.close();
    });
  }
});

describe('a damaged session of a dispatch', () => {
  for (const name of ['dispatch', 'dispatch_session']) {
    it(`(a byte of ${name}) prevents neither the file from opening nor a run from its turn`, async (t) => {
      const path = join(tempDir(t), 'state.db');
      const before = await openOfflineStore(path);
      const dispatch = makeDispatch('a', { session: 's', session_key: 's' });
      await before.write(makeAccept('a', { dispatch }));
      await before.close();
      damagePage(path, name, '["default","s"]');
      const store = await openOfflineStore(path);
      const { runs } = await store.write(makeTake(3000));
      assert.equal(runs.length, 1);
      assert.equal((await store.read({ kind: 'load', ref: runs[0]?.ref ?? 0 }))?.session, 's');
      await store.close();
    });
  }

  for (const [what, damage, kept] of [
    ['session', `session = '["default'`, [null, 1]],
    ['session of invalid UTF-8', "session = CAST(x'5bff5d' AS TEXT)", [null, 1]],
    ['burst', 'burst = -5', ['["default","s"]', null]],
    ['session and burst', `burst = -5, session = 's'`, [null, null]],
  ] as const) {
    it(`(${what}) is cleared, and nothing else of it or of another`, async (t) => {
      const path = join(tempDir(t), 'state.db');
      const store = await openOfflineStore(path);
      const dispatch = (id: string) => makeDispatch(id, { session: 's', session_key: 's' });
      for (const id of ['a', 'b']) await store.write(makeAccept(id, { dispatch: dispatch(id) }));
      await store.close();
      const db = connect(path, { busyMs: 0 });
      t.after(() => db.close());
      db.exec(`UPDATE dispatch SET burst = 1; UPDATE dispatch SET ${damage} WHERE ref = 2`);
      assert.equal(quarantineRows(db, 3000).length, 1);
      const rows = db.query<[string | null, number | null]>('SELECT session, burst FROM dispatch ORDER BY ref').all();
      assert.deepEqual(rows, [['["default","s"]', 1], kept]);
      assert.deepEqual(quarantineRows(db, 3000), []);
    });
  }
});
