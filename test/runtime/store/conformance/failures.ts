/** The effects of concurrent writers, a stop and a kill, and of a record that cannot be stored. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StoreUnavailable } from '../../../../runtime/store/contract.ts';
import { makeAccept, makeAdvance, makeClaim, makeDispatch, makeJoin, makeTake } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, audit, find, load, overview, tally } from './subject.ts';

export function failures(open: StoreOpener): void {
  it('fails only the record that cannot be stored, and stores nothing of it', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const claim = makeClaim('poison');
    // Despite its type, this is not a text: it has no form in JSON.
    const dispatch = makeDispatch('poison', { session: 1n as unknown as string });
    const written = [
      store.write(makeAccept('a')),
      store.write(makeAccept('poison', { dispatch, claim })),
      store.write(makeAccept('b')),
      store.write(makeJoin('c', 'k', 1000)),
    ];
    const results = await Promise.allSettled(written);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    );
    const [, poison] = results;
    assert.ok(poison?.status === 'rejected' && !(poison.reason instanceof StoreUnavailable));
    assert.equal(store.problem(), null);
    assert.equal(await store.read({ kind: 'is_claimed', key: claim, now: 1000 }), false);
    await accept(store, 'again', { claim });
    await opened.restart();
    assert.deepEqual([(await tally(opened.store)).accepted, await audit(opened.store)], [4, []]);
    assert.equal(await find(opened.store, 'poison'), null);
  });

  it('makes changes in the order in which they were written, without waiting between them', async (t) => {
    const { store } = await open(t);
    const writes = [];
    for (let n = 0; n < 50; n++) {
      writes.push(store.write(makeAccept(`d${n}`)), store.write(makeTake(1000, { runs: 1 })));
    }
    const results = await Promise.all(writes);
    const taken = results.flatMap((result) => ('runs' in result ? [result.runs.map(({ ref }) => ref)] : []));
    const stored = results.flatMap((result) => ('kind' in result && result.kind === 'stored' ? [[result.ref]] : []));
    assert.deepEqual(taken, stored);
    assert.deepEqual([(await tally(store)).running, await audit(store)], [50, []]);
  });

  it('shows a reader everything that was committed before the query', async (t) => {
    const { store } = await open(t);
    await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const ref = await accept(store, `d${n}`);
        assert.equal((await load(store, ref)).state, 'pending');
        await store.write(makeTake(1000, { runs: 1 }));
        assert.ok(((await overview(store)).tallies[0]?.running ?? 0) > 0);
      }),
    );
  });

  it('stores everything that was written before it was closed', async (t) => {
    const opened = await open(t);
    const written = Array.from({ length: 40 }, (_, n) => opened.store.write(makeAccept(`d${n}`)));
    await opened.restart();
    const results = await Promise.all(written);
    assert.ok(results.every(({ kind }) => kind === 'stored'));
    assert.equal((await tally(opened.store)).accepted, 40);
  });

  it('contains after a kill each acknowledged change, completely or not at all', async (t) => {
    const opened = await open(t);
    const answered: string[] = [];
    for (let round = 0; round < 3; round++) {
      const writes = Array.from({ length: 20 }, async (_, n) => {
        const id = `${round}-${n}`;
        const result = await opened.store.write(makeAccept(id)).catch(() => null);
        if (result?.kind !== 'stored') return;
        answered.push(id);
        await opened.store.write(makeAdvance(result.ref, 'dead', 2000, { reason: 'x' })).catch(() => null);
      });
      await Promise.race(writes);
      await opened.crash();
      await Promise.allSettled(writes);
      for (const id of answered) assert.equal((await find(opened.store, id))?.dispatch.prompt, `prompt of ${id}`);
      assert.deepEqual(await audit(opened.store), []);
    }
  });
}
