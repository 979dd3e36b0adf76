/** Sessions in which a newer event replaces earlier runs. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Accept } from '../../../../runtime/store/contract.ts';
import type { Dispatch } from '../../../../schemas/generated/types.ts';
import { makeAccept, makeDispatch, makeJoin, makeStep } from '../../../helpers/dispatches.ts';
import type { OpenStore, StoreOpener } from './subject.ts';
import { advance, audit, find, idsOf, take } from './subject.ts';

const of = (id: string, on_newer?: Dispatch['on_newer'], key = 'a') =>
  makeDispatch(id, {
    ...{ session_key: key, session: `webhook:alerts:${key}` },
    ...(on_newer === undefined ? {} : { on_newer }),
  });

async function put({ store }: OpenStore, dispatch: Dispatch, rest: Partial<Accept> = {}) {
  const stored = await store.write(makeAccept(dispatch.id, { dispatch, claim: null, ...rest }));
  assert.ok(stored.kind === 'stored');
  return { ref: stored.ref, replaced: stored.replaced ?? [] };
}

const stateOf = async ({ store }: OpenStore, id: string) => {
  const found = await find(store, id);
  return [found?.state, found?.reason];
};
const SKIPPED = ['skipped', 'superseded'];
const recover = ({ store }: OpenStore) =>
  store.write({ kind: 'recover', holder: 'next', now: 2000, under_way: { runs: [], attempts: [] } });

export function newer(open: StoreOpener): void {
  it('skips every waiting run, in a long session too, and lets the one in progress answer', async (t) => {
    const opened = await open(t);
    const first = await put(opened, of('a0'));
    const waiting = [];
    for (let n = 1; n <= 5; n++) waiting.push((await put(opened, of(`a${n}`))).ref);
    await put(opened, of('b', undefined, 'b'));
    await take(opened.store, 1000);
    const last = await put(opened, of('last', 'latest'));
    assert.deepEqual(last.replaced, waiting);
    assert.deepEqual((await take(opened.store, 1000)).runs, []);
    assert.deepEqual(await advance(opened.store, first.ref, 'done', 1100, { answer: 'x' }), true);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 1100)), ['last']);
    assert.deepEqual(await stateOf(opened, 'a3'), SKIPPED);
    assert.deepEqual(await stateOf(opened, 'a0'), ['done', null]);
    assert.deepEqual(await stateOf(opened, 'b'), ['running', null]);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('does not repeat a run that has failed or was interrupted, but keeps the newest one', async (t) => {
    const opened = await open(t);
    const failed = await put(opened, of('failed', 'latest'));
    await take(opened.store, 1000);
    await put(opened, of('next', 'latest'));
    const steps = [makeStep({ outcome: 'failed' })];
    const again = { reason: 'run failed', due_at: 5000, steps };
    assert.equal(await advance(opened.store, failed.ref, 'pending', 1100, again), 'superseded');
    assert.deepEqual(await stateOf(opened, 'failed'), SKIPPED);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 1100)), ['next']);
    await put(opened, of('newest', 'latest'));
    await opened.crash();
    await recover(opened);
    assert.deepEqual(await stateOf(opened, 'next'), SKIPPED);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 2000, { holder: 'next' })), ['newest']);
    await opened.crash();
    const { runs } = await opened.store.write({
      ...{ kind: 'recover', holder: 'third', now: 3000, under_way: { runs: [], attempts: [] } },
    });
    assert.equal(runs, 1);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 3000, { holder: 'third' })), ['newest']);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('with `cancel` ends the run in progress, whose outcome is then not stored', async (t) => {
    const opened = await open(t);
    const first = await put(opened, of('first', 'cancel'));
    await take(opened.store, 1000);
    const waiting = await put(opened, of('waiting'));
    const last = await put(opened, of('last', 'cancel'));
    assert.deepEqual(last.replaced, [first.ref, waiting.ref]);
    const open_ = [{ index: 0, target: 'log', due_at: 1100 }];
    assert.equal(await advance(opened.store, first.ref, 'delivering', 1100, { answer: 'x', open: open_ }), false);
    const stored = await find(opened.store, 'first');
    assert.deepEqual([stored?.state, stored?.reason, stored?.answer], [...SKIPPED, null]);
    assert.deepEqual(
      stored?.steps.map(({ kind, outcome, reason }) => [kind, outcome, reason]),
      [['run', 'interrupted', 'superseded']],
    );
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 1100)), ['last']);
    await opened.crash();
    await recover(opened);
    assert.deepEqual(await stateOf(opened, 'first'), SKIPPED);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('does not count a replay as newer', async (t) => {
    const opened = await open(t);
    const running = await put(opened, of('b', 'cancel'));
    await take(opened.store, 1000);
    const again = await put(opened, { ...of('a again', 'cancel'), replay_of: 'a' });
    assert.deepEqual(again.replaced, []);
    assert.deepEqual(await stateOf(opened, 'b'), ['running', null]);
    await advance(opened.store, running.ref, 'done', 1100, { answer: 'x' });
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 1100)), ['a again']);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('delivers a run that has answered', async (t) => {
    const opened = await open(t);
    const first = await put(opened, of('first', 'cancel'));
    await take(opened.store, 1000);
    const open_ = [{ index: 0, target: 'log', due_at: 1100 }];
    await advance(opened.store, first.ref, 'delivering', 1100, { answer: 'x', open: open_ });
    assert.deepEqual((await put(opened, of('last', 'cancel'))).replaced, []);
    assert.deepEqual(await stateOf(opened, 'first'), ['delivering', null]);
    const { runs, attempts } = await take(opened.store, 1100);
    assert.deepEqual([runs.length, attempts.length], [1, 1]);
  });

  it('ends a waiting group of its session, whose next event opens another group', async (t) => {
    const opened = await open(t);
    const join = (id: string, key: string, now: number) =>
      opened.store.write(makeJoin(id, key, now, { dispatch: of(id, 'latest'), claim: null }));
    await join('g1', 'k', 1000);
    const second = await join('h1', 'l', 1000);
    assert.deepEqual(second.kind === 'stored' && second.replaced?.length, 1);
    assert.deepEqual(await stateOf(opened, 'g1'), SKIPPED);
    const next = await join('g2', 'k', 2000);
    assert.deepEqual(next.kind === 'stored' && next.superseded, 0);
    const same = await join('g3', 'k', 3000);
    assert.deepEqual(same.kind === 'stored' && [same.superseded, same.replaced], [1, undefined]);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 90_000)), ['g3']);
    assert.deepEqual(await audit(opened.store), []);
  });
}
