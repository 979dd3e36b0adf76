/** Sessions: their runs take turns, in the order of acceptance. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HOLDER, makeAccept, makeDispatch, makeJoin } from '../../../helpers/dispatches.ts';
import type { Open, OpenStore } from './subject.ts';
import { accept, advance, audit, idsOf, take } from './subject.ts';

const of = (id: string, key: string, rest: Parameters<typeof makeDispatch>[1] = {}) =>
  makeDispatch(id, { session_key: key, session: `webhook:alerts:${key}`, ...rest });

const acceptIn = ({ store }: OpenStore, id: string, key: string, rest: Parameters<typeof makeDispatch>[1] = {}) =>
  accept(store, id, { dispatch: of(id, key, rest), claim: null });

export function sessions(open: Open): void {
  it('runs one after the other in the order of acceptance, over kills, and holds up no other key', async (t) => {
    const opened = await open(t);
    for (const [id, key] of [
      ['a1', 'a'],
      ['b1', 'b'],
      ['a2', 'a'],
      ['a3', 'a'],
    ] as const)
      await acceptIn(opened, id, key);
    const none = await acceptIn(opened, 'none', 'x', { session_key: null });
    assert.deepEqual([...(await idsOf(opened.store, await take(opened.store, 1000)))].sort(), ['a1', 'b1', 'none']);
    await opened.crash();
    assert.deepEqual((await take(opened.store, 1000)).runs, []);
    await advance(opened.store, none, 'done', 1100, { answer: 'x' });
    const under_way = { runs: [], attempts: [] };
    await opened.store.write({ kind: 'recover', holder: 'next', now: 2000, under_way });
    const next = await take(opened.store, 2000, { holder: 'next' });
    assert.deepEqual([...(await idsOf(opened.store, next))].sort(), ['a1', 'b1']);
    for (const expected of ['a2', 'a3', null]) {
      const [run] = (await take(opened.store, 2000, { holder: 'next', runs: 0 })).runs;
      assert.equal(run, undefined);
      const ids = await endFirst(opened, expected === 'a2' ? 'a1' : expected === 'a3' ? 'a2' : 'a3');
      assert.deepEqual(ids, expected === null ? [] : [expected]);
    }
    assert.deepEqual(await audit(opened.store), []);
  });

  it('a run that is tried again keeps its turn, and one that is dead gives it up', async (t) => {
    const opened = await open(t);
    const [first] = [await acceptIn(opened, 'a1', 'a'), await acceptIn(opened, 'a2', 'a')];
    await take(opened.store, 1000);
    await advance(opened.store, first, 'pending', 1100, { due_at: 5000 });
    const waiting = await take(opened.store, 4000);
    assert.deepEqual([waiting.runs, waiting.next_due_at, waiting.waiting], [[], 5000, 2]);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 5000)), ['a1']);
    await advance(opened.store, first, 'dead', 5100, { reason: 'no' });
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 5100)), ['a2']);
  });

  it('a group has its place by its first event', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const join = (id: string, now: number) => store.write(makeJoin(id, 'k', now, { dispatch: of(id, 'a') }));
    await join('g1', 1000);
    await acceptIn(opened, 'a2', 'a');
    await join('g2', 2000);
    assert.deepEqual((await take(store, 31_000)).runs, []);
    assert.deepEqual(await idsOf(store, await take(store, 32_000)), ['g2']);
    const [run] = (await store.read({ kind: 'list', filter: { limit: 9, state: 'running' } })) ?? [];
    await advance(store, run?.ref ?? 0, 'skipped', 33_000, { answer: '' });
    assert.deepEqual(await idsOf(store, await take(store, 33_000)), ['a2']);
  });

  it('profiles have sessions of their own', async (t) => {
    const opened = await open(t);
    await acceptIn(opened, 'a1', 'a');
    await acceptIn(opened, 'a2', 'a', { profile: 'other' });
    assert.deepEqual([...(await idsOf(opened.store, await take(opened.store, 1000)))].sort(), ['a1', 'a2']);
  });

  it('an agent has at most so many runs over its routes, and holds up no other agent', async (t) => {
    const { store } = await open(t);
    const by = (id: string, route: string, agent: string | null) =>
      store.write(makeAccept(id, { dispatch: makeDispatch(id, { route, agent }), claim: null }));
    await by('r1', 'alerts', 'reviewer');
    await by('r2', 'other', 'reviewer');
    await by('r3', 'alerts', 'reviewer');
    await by('d1', 'alerts', null);
    const agents = [{ profile: 'default', agent: 'reviewer', max_concurrent: 2 }];
    const taken = await take(store, 1000, { agents });
    const ids = await idsOf(store, taken);
    assert.equal(ids.filter((id) => id.startsWith('r')).length, 2);
    assert.ok(ids.includes('d1'));
    assert.deepEqual((await take(store, 1000, { agents })).runs, []);
    const done = taken.runs[ids.findIndex((id) => id.startsWith('r'))]?.ref ?? 0;
    await advance(store, done, 'done', 1100, { answer: 'x' });
    assert.equal((await take(store, 1100, { agents })).runs.length, 1);
    assert.deepEqual(await audit(store), []);
  });
}

/** Ends the run of this name; what is taken then. */
async function endFirst({ store }: OpenStore, id: string): Promise<readonly string[]> {
  const found = await store.read({ kind: 'find', id });
  const ref = found.kind === 'found' ? found.dispatch.ref : 0;
  await advance(store, ref, 'done', 2100, { holder: 'next', answer: HOLDER });
  return idsOf(store, await take(store, 2100, { holder: 'next' }));
}
