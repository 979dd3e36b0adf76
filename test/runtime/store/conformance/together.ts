/** Changes of one request: one commit stores all of them, or nothing is stored. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StoreUnavailable } from '../../../../runtime/store/contract.ts';
import { Together } from '../../../../runtime/store/together.ts';
import { makeAccept, makeClaim, makeJoin } from '../../../helpers/dispatches.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';
import type { StoreOpener } from './subject.ts';
import { audit, find, tally } from './subject.ts';

const ROUNDS = 6;
const EVENTS = 40;

export function together(open: StoreOpener): void {
  it('stores all, in their order, once the last event has come', async (t) => {
    const { store } = await open(t);
    const changes = new Together(4);
    const claim = makeClaim('same');
    const written = [
      store.write(makeAccept('a', { claim }), { together: changes }),
      store.write(makeAccept('b', { claim }), { together: changes }),
      store.write(makeJoin('c', 'k', 1000), { together: changes }),
    ];
    assert.equal((await store.read({ kind: 'list', filter: { limit: 9 } })).length, 0);
    changes.leave(false);
    const results = await Promise.all(written);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['stored', 'duplicate', 'stored'],
    );
    assert.deepEqual([(await tally(store)).accepted, await audit(store)], [2, []]);
  });

  it('stores nothing if one event is refused', async (t) => {
    const { store } = await open(t);
    const changes = new Together(3);
    const claim = makeClaim('a');
    const written = [
      store.write(makeAccept('a', { claim }), { together: changes }),
      store.write(makeAccept('b'), { together: changes }),
    ];
    changes.leave(true);
    for (const result of await Promise.allSettled(written))
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable);
    assert.deepEqual([await find(store, 'a'), await find(store, 'b')], [null, null]);
    assert.equal(await store.read({ kind: 'is_claimed', key: claim, now: 1000 }), false);
  });

  it('stores all or nothing over kills', async (t) => {
    const opened = await open(t);
    const random = seededRandom(43);
    for (let round = 0; round < ROUNDS; round++) {
      const changes = new Together(EVENTS);
      const ids = Array.from({ length: EVENTS }, (_, n) => `r${round}-${n}`);
      const written = ids.map((id) =>
        opened.store.write(makeAccept(id, { claim: makeClaim(id) }), { together: changes }),
      );
      const all = Promise.allSettled(written);
      await new Promise((resolve) => setTimeout(resolve, random() * 6));
      await opened.crash();
      const answered = (await all).filter(({ status }) => status === 'fulfilled').length;
      const stored = (await Promise.all(ids.map((id) => find(opened.store, id)))).filter((one) => one !== null).length;
      assert.ok(stored === EVENTS || (stored === 0 && answered === 0), `${stored} stored, ${answered} answered`);
    }
    assert.deepEqual(await audit(opened.store), []);
  });
}
