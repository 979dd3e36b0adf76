/** Retention: which rows are removed, and which never are. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import { makeClaim, makeDispatch } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, find, overview, take, takeNew, tally } from './subject.ts';

async function ended(store: Store, id: string, at: number, prompt = id): Promise<Ref> {
  const ref = await takeNew(store, id, { dispatch: makeDispatch(id, { prompt }), claim: makeClaim(id) });
  await advance(store, ref, 'done', at, { answer: 'x' });
  return ref;
}

async function ids(store: Store): Promise<string> {
  return (await store.read({ kind: 'list', filter: { limit: 1000 } })).map(({ id }) => id).join(' ');
}

export function retention(open: StoreOpener): void {
  it('removes old ended dispatches, slice by slice, and nothing else', async (t) => {
    const { store } = await open(t);
    for (const [id, at] of [
      ['a', 2000],
      ['b', 2000],
      ['c', 8000],
    ] as const) {
      await ended(store, id, at);
    }
    await takeNew(store, 'running');
    await accept(store, 'waiting');
    let removed = 0;
    for (let after: Ref | null = 0; after !== null; ) {
      const slice: { removed: number; next: Ref | null } = await store.write({
        ...{ kind: 'cleanup', before: 5000, after, limit: 2 },
      });
      assert.ok(slice.removed <= 2 && (slice.next === null || slice.next > after));
      removed += slice.removed;
      after = slice.next;
    }
    assert.deepEqual([removed, await ids(store)], [2, 'waiting running c']);
    assert.deepEqual([(await tally(store)).removed, await audit(store)], [2, []]);
    assert.equal(await find(store, 'a'), null);
  });

  it('never assigns a number twice', async (t) => {
    const opened = await open(t);
    const ref = await ended(opened.store, 'a', 2000);
    await opened.store.write({ kind: 'cleanup', before: 9000, after: 0, limit: 10 });
    await opened.store.write({ kind: 'trim', max_bytes: 0, limit: 10 });
    await opened.restart();
    assert.ok((await accept(opened.store, 'b')) > ref);
  });

  it('removes the oldest ended dispatches while the store is too large, and never a pending one', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const text = 'x'.repeat(20_000);
    await accept(store, 'waiting', { now: 5000 });
    for (let n = 0; n < 60; n++) await ended(store, `d${n}`, 2000 + n, text);
    await takeNew(store, 'running');
    const { bytes } = await overview(store);
    assert.equal((await store.write({ kind: 'trim', max_bytes: bytes * 10, limit: 9 })).removed, 0);
    const first = await store.write({ kind: 'trim', max_bytes: 0, limit: 3 });
    assert.equal(first.removed, 3);
    assert.deepEqual([await find(store, 'd2'), (await find(store, 'd3'))?.state], [null, 'done']);
    let removed = 3;
    for (let slice = first; slice.removed > 0; removed += slice.removed) {
      slice = await store.write({ kind: 'trim', max_bytes: bytes / 2, limit: 3 });
    }
    assert.ok(removed > 20 && removed < 50, `${removed}`);
    assert.ok((await overview(store)).bytes <= bytes / 2);
    await store.write({ kind: 'trim', max_bytes: 0, limit: 100 });
    assert.equal(await ids(store), 'running waiting');
    assert.deepEqual([(await tally(store)).removed, await audit(store)], [60, []]);
    assert.equal((await take(store, 5000)).runs.length, 1);
  });
}
