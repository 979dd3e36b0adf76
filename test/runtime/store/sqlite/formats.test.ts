import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { openOfflineStore } from '../../../../runtime/store/sqlite/open-store.ts';
import { StoreRefused } from '../../../../runtime/store/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

describe('a database', () => {
  const refused: readonly (readonly [format: number, message: RegExp])[] = [
    [4, /has format 4, of a version before the first release: move the file away/],
    [5, /has format 5, of a version before the first release: move the file away/],
    [99, /newer hookwright \(format 99, this one knows 6\)/],
  ];
  for (const [format, message] of refused) {
    it(`of format ${format} is refused`, async (t) => {
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

  it('that is no database is refused with its name', async (t) => {
    const path = join(tempDir(t), 'state.db');
    writeFileSync(path, 'this is no database, it only looks like a file of some length'.repeat(50));
    await assert.rejects(openOfflineStore(path), /cannot open .*state\.db: .*not a database/);
  });
});
