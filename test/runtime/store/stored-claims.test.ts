/** Which delivery ids are in the database, without asking it for each. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type Database from 'libsql';
import { BloomFilter } from '../../../runtime/store/sqlite/bloom-filter.ts';
import { migrate } from '../../../runtime/store/sqlite/migrations.ts';
import { openDatabase } from '../../../runtime/store/sqlite/open-database.ts';
import { StoredClaims } from '../../../runtime/store/sqlite/stored-claims.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const keys = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => JSON.stringify(['default', 'alerts', `${prefix}${n}`]));

describe('a filter', () => {
  it('has every key that was added, and few others', () => {
    const filter = new BloomFilter(10_000);
    const added = keys('added', 10_000);
    for (const key of added) filter.add(key);
    assert.equal(filter.isFull, true);
    assert.ok(added.every((key) => filter.add(key)));
    const others = keys('other', 1000).filter((key) => filter.add(key)).length;
    assert.ok(others < 20, `${others} of 1,000 others`);
  });

  it('counts a key once', () => {
    const filter = new BloomFilter(2);
    for (let n = 0; n < 5; n++) filter.add('a');
    assert.equal(filter.isFull, false);
  });
});

describe('the ids that are stored', () => {
  const setUp = (t: TestContext): { readonly db: Database.Database; readonly claim: (key: string) => void } => {
    const db = openDatabase(join(tempDir(t), 'state.db'), 'normal');
    migrate(db);
    t.after(() => db.close());
    const insert = db.prepare('INSERT INTO claim (key, expires_at) VALUES (?, 5000)');
    return { db, claim: (key) => void insert.run([key]) };
  };

  it('are all found, those from before and those that come while they are gone through', async (t) => {
    const { db, claim } = setUp(t);
    const before = keys('before', 1200);
    for (const key of before) claim(key);
    const pending = new Set<string>();
    const stored = new StoredClaims(db, () => pending, 16);
    const found = (wanted: readonly string[]): number => stored.claim(wanted).size;
    assert.equal(found(before), 1200);
    const added: string[] = [];
    // The newest first in the order in which they are gone through.
    const fresh = keys('added', 5000).slice(1000).reverse().slice(0, 3000);
    while (added.length < fresh.length) {
      const group = fresh.slice(added.length, added.length + 7);
      assert.equal(found(group), 0);
      for (const key of group) pending.add(key);
      added.push(...group);
      // Some of them get to the database late, when the filter has been made anew without them.
      if (pending.size > 100) {
        for (const late of pending) claim(late);
        pending.clear();
      }
      if (added.length % 14 === 0) await settle(1);
      // Only one: whoever asks also notes.
      const stale = added.slice(-120, -119).filter((one) => !pending.has(one));
      assert.equal(found(stale), stale.length, `${added.length} added`);
    }
    for (const late of pending) claim(late);
    await settle(50);
    assert.equal(found([...before, ...added]), 4200);
    assert.deepEqual(found(keys('never', 500)), 0);
    stored.close();
  });

  it('are asked for one by one while the database cannot be gone through', async (t) => {
    const { db, claim } = setUp(t);
    claim('a');
    const stored = new StoredClaims(db, () => []);
    stored.close();
    await settle(5);
    assert.deepEqual([...stored.claim(['a', 'b'])], [['a', 5000]]);
  });
});
