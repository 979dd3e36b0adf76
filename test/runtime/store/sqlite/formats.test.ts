import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { StoreRefused } from '../../../../runtime/store/contract.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { logMarkPath } from '../../../../runtime/store/store-path.ts';
import { HOLDER, makeAccept, makeAdvance, makeClaim } from '../../../helpers/dispatches.ts';
import { openOfflineStore } from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

describe('a database', () => {
  const refused: readonly (readonly [format: number, message: RegExp])[] = [
    [4, /has format 4, which predates the first release: move the file away/],
    [5, /has format 5, which predates the first release: move the file away/],
    [99, /newer hookwright \(format 99, this version supports up to 9\)/],
  ];
  for (const [format, message] of refused) {
    it(`of format ${format} is rejected`, async (t) => {
      const path = join(tempDir(t), 'state.db');
      const db = connect(path, { busyMs: 0 });
      db.exec(`PRAGMA user_version = ${format}`);
      db.close();
      await assert.rejects(
        openOfflineStore(path),
        (error) => error instanceof StoreRefused && message.test(error.message),
      );
    });
  }

  it('of format 6 is migrated, and its dead direct deliveries continue when they are replayed', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const before = await openOfflineStore(path);
    const key = { profile: 'default', route: 'alerts', delivery_id: 'x' };
    const held = { claim: makeClaim('x'), claiming: 'later', work: { kind: 'held', holder: HOLDER } } as const;
    await before.write(makeAccept('a', held));
    await before.write(makeAdvance(1, 'dead', 2000, { reason: 'down' }));
    await before.close();
    // An older version did not write this file.
    rmSync(logMarkPath(path), { force: true });
    const old = connect(path, { busyMs: 0 });
    old.exec(`DROP TABLE message; DROP TABLE usage; DROP TABLE figure; ALTER TABLE answer DROP COLUMN program; DROP INDEX work_due; DROP INDEX work_session;
      ALTER TABLE work DROP COLUMN session; ALTER TABLE work DROP COLUMN turn; ALTER TABLE work DROP COLUMN blocked_by;
      ALTER TABLE job_state DROP COLUMN paused_until;
      DROP INDEX delivery_blocked; ALTER TABLE delivery DROP COLUMN blocked_by; ALTER TABLE delivery DROP COLUMN told_at;
      DROP INDEX dispatch_session; ALTER TABLE dispatch DROP COLUMN session; DROP INDEX dispatch_burst; ALTER TABLE dispatch DROP COLUMN burst; DROP INDEX dispatch_accepted;
      CREATE INDEX work_due ON work (lane, due_at, ref) WHERE state = 'pending'; PRAGMA user_version = 6`);
    old.close();
    const store = await openOfflineStore(path);
    assert.equal((await store.write({ kind: 'resend', ref: 1, key, again: false, now: 3000 })).kind, 'stored');
    assert.deepEqual(await store.read({ kind: 'is_claimed', key, now: 3000 }), true);
    await store.close();
  });

  it('is rejected by name if the file is not a database', async (t) => {
    const path = join(tempDir(t), 'state.db');
    writeFileSync(path, 'this is not a database, it only looks like a file of some length'.repeat(50));
    await assert.rejects(openOfflineStore(path), /\bstate\.db: .*not a database/);
  });
});
