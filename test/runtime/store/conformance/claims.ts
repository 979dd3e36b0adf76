/** Claims of delivery ids: each id is accepted once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { ClaimKey } from '../../../../runtime/store/records.ts';
import { HOLDER, makeAccept, makeClaim, makeJoin } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, find, tally } from './subject.ts';

const isClaimed = (store: Store, key: ClaimKey, now: number): Promise<boolean> =>
  store.read({ kind: 'is_claimed', key, now });

export function claims(open: StoreOpener): void {
  it('accepts one of two dispatches with the same delivery id, even when both are written at once', async (t) => {
    const { store } = await open(t);
    const claim = makeClaim('same');
    const results = await Promise.all([
      store.write(makeAccept('a', { claim })),
      store.write(makeAccept('b', { claim })),
    ]);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['stored', 'duplicate'],
    );
    assert.deepEqual([(await find(store, 'a'))?.state, await find(store, 'b')], ['pending', null]);
  });

  it('accepts many at once, each id once, with increasing numbers', async (t) => {
    const { store } = await open(t);
    await accept(store, 'expired', { claim: makeClaim('id-3', 900), now: 500 });
    await accept(store, 'held', { claim: makeClaim('id-7', 9000) });
    const ids = Array.from({ length: 45 }, (_, index) => (index === 20 ? 5 : index));
    const results = await Promise.all(
      ids.map((id, index) => store.write(makeAccept(`d${index}`, { claim: makeClaim(`id-${id}`, 9000) }))),
    );
    const refused = results.flatMap(({ kind }, index) => (kind === 'duplicate' ? [index] : []));
    assert.deepEqual(refused, [7, 20]);
    const refs = results.flatMap((result) => (result.kind === 'stored' ? [result.ref] : []));
    assert.deepEqual(
      refs,
      [...new Set(refs)].sort((a, b) => a - b),
    );
    assert.equal((await tally(store)).accepted, 45);
    assert.deepEqual(await audit(store), []);
  });

  it('scopes ids to profile and route', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a', { claim: makeClaim('same') });
    await accept(store, 'b', { claim: makeClaim('same', 9e9, { route: 'other' }) });
    await accept(store, 'c', { claim: makeClaim('same', 9e9, { profile: 'other' }) });
    // Separators and NULs in a delivery id cannot forge another one.
    await accept(store, 'd', { claim: makeClaim('x\0y') });
    await accept(store, 'e', { claim: makeClaim('x\0z') });
    await accept(store, 'f', { claim: makeClaim('["default","alerts","same"]') });
    await accept(store, 'g', { claim: makeClaim('\ud800') });
    await accept(store, 'h', { claim: makeClaim('\ud801') });
    await accept(store, 'i', { claim: makeClaim('') });
  });

  it('forgets an id once it has expired, even after a restart', async (t) => {
    const opened = await open(t);
    await accept(opened.store, 'a', { claim: makeClaim('same', 5000), now: 1000 });
    await opened.restart();
    const { store } = opened;
    assert.equal(await isClaimed(store, makeClaim('same'), 4999), true);
    assert.equal(await isClaimed(store, makeClaim('same'), 5000), false);
    await accept(store, 'b', { claim: makeClaim('same', 9000), now: 5000 });
    assert.equal(await isClaimed(store, makeClaim('same'), 5000), true);
  });

  it('refuses what was signed under another id as long as its guard lasts, even after a restart', async (t) => {
    const opened = await open(t);
    const guarded = (id: string, expires_at = 90_000) =>
      makeClaim(id, expires_at, { guard: '\nsigned', guard_expires_at: 5000 });
    await accept(opened.store, 'a', { claim: guarded('one') });
    await opened.restart();
    const { store } = opened;
    const others = [guarded('two'), makeClaim('\nsigned', 5000), guarded('one')];
    for (const claim of others) assert.equal((await store.write(makeAccept('b', { claim }))).kind, 'duplicate');
    for (const claim of others) assert.equal(await isClaimed(store, claim, 4999), true);
    await store.write(
      makeJoin('c', 'k', 1000, { claim: makeClaim('three', 9000, { guard: '\nother', guard_expires_at: 9000 }) }),
    );
    const joined = { claim: makeClaim('four', 9000, { guard: '\nother', guard_expires_at: 9000 }) };
    assert.equal((await store.write(makeJoin('d', 'k', 2000, joined))).kind, 'duplicate');
    // A refused event claims nothing.
    assert.equal(await isClaimed(store, makeClaim('four'), 2000), false);
    await accept(store, 'e', { claim: guarded('two'), now: 5000 });
  });

  it('stores one of several events with one guard that are written at once', async (t) => {
    const { store } = await open(t);
    const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    const results = await Promise.all(
      ids.map((id) =>
        store.write(makeAccept(id, { claim: makeClaim(id, 9e9, { guard: '\nsigned', guard_expires_at: 9e9 }) })),
      ),
    );
    assert.deepEqual(results.map(({ kind }) => kind).sort(), [...Array(19).fill('duplicate'), 'stored']);
  });

  it('only checks an id that is claimed later, and claims it with the change that requests it', async (t) => {
    const { store } = await open(t);
    const later = { claim: makeClaim('same'), claiming: 'later', work: { kind: 'held', holder: HOLDER } } as const;
    await accept(store, 'a', later);
    const ref = await accept(store, 'b', later);
    assert.equal(await isClaimed(store, makeClaim('same'), 2000), false);
    assert.equal(await advance(store, ref, 'done', 2000, { claim: makeClaim('same') }), true);
    assert.equal(await isClaimed(store, makeClaim('same'), 2000), true);
    assert.equal((await store.write(makeAccept('c', later))).kind, 'duplicate');
  });

  it('claims nothing for a dispatch without a claim', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a', { claim: null });
    await accept(store, 'b', { claim: null });
    assert.equal((await tally(store)).accepted, 2);
    assert.equal(await isClaimed(store, makeClaim('delivery-a'), 1000), false);
  });

  it('removes expired ids in slices and keeps the others', async (t) => {
    const { store } = await open(t);
    for (const id of ['a', 'b', 'c']) await accept(store, id, { claim: makeClaim(id, 2000) });
    await accept(store, 'd', { claim: makeClaim('d', 9000) });
    let removed = 0;
    let slices = 0;
    for (let after: string | null = ''; after !== null; slices++) {
      const slice: { removed: number; next: string | null } = await store.write({
        ...{ kind: 'expire_claims', now: 3000, after, limit: 2 },
      });
      assert.ok(slice.removed <= 2);
      removed += slice.removed;
      after = slice.next;
    }
    assert.equal(removed, 3);
    assert.ok(slices >= 2);
    assert.equal(await isClaimed(store, makeClaim('d'), 3000), true);
    // Even for a clock that moved back.
    for (const id of ['a', 'b', 'c']) await accept(store, `${id} again`, { claim: makeClaim(id, 2000), now: 1000 });
  });
}
