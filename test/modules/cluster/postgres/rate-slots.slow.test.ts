/** Rate windows in the database: the limit over several gateways, and when a window ends. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PostgresStore } from '../../../../modules/cluster/runtime/postgres/postgres-store.ts';
import type { SlotGrant, SlotRequest } from '../../../../modules/cluster/runtime/shared-window.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';

const take = (store: Store, parts: Partial<SlotRequest> = {}): Promise<SlotGrant> => {
  assert.ok(store instanceof PostgresStore);
  return store.takeSlots({ window: '["default","a"]', limit: 10, needed: 1, ahead: 0, ...parts });
};

describe('rate windows on PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  it('grant their limit once, however many gateways request it at the same moment', async (t) => {
    const url = await testDatabase(t);
    const stores = await Promise.all(['s', 's', 's'].map((schema) => openTestStore(url, schema)));
    for (const store of stores) atEnd(t, () => store.close());
    const grants = await Promise.all(
      Array.from({ length: 20 }, () => stores.map((store) => take(store, { needed: 3, limit: 50 }))).flat(),
    );
    assert.equal(
      grants.reduce((sum, { granted }) => sum + granted, 0),
      50,
    );
    assert.equal(Math.max(...grants.map(({ taken }) => taken)), 50);
    for (const { left_ms } of grants) assert.ok(left_ms > 0 && left_ms <= 60_000, `${left_ms} ms`);
  });

  it('grant slots ahead only while plenty are left, and restart after a minute', async (t) => {
    const url = await testDatabase(t);
    const store = await openTestStore(url, 's');
    atEnd(t, () => store.close());
    assert.equal((await take(store, { limit: 1000, needed: 2, ahead: 500 })).granted, 2 + Math.floor(998 / 64));
    assert.equal((await take(store, { limit: 70, needed: 1, ahead: 500 })).granted, 1);
    assert.equal((await take(store, { limit: 10 })).granted, 0, 'a lowered limit counts at once');
    assert.equal((await take(store, { window: '["default","b"]' })).granted, 1, 'each route has its own');
    await runSql(url, "UPDATE s.rate_window SET opened_at = opened_at - interval '61 s'");
    assert.deepEqual(
      [await take(store, { limit: 1 }), await take(store, { limit: 1 })].map(({ granted, taken }) => [granted, taken]),
      [
        [1, 1],
        [0, 1],
      ],
    );
    await runSql(url, "UPDATE s.rate_window SET opened_at = opened_at + interval '1 hour'");
    assert.equal((await take(store, { limit: 1 })).granted, 1, 'the clock of the server was set back');
  });
});
