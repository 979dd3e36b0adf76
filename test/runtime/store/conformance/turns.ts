/** Which row is taken next: fairness over lanes, order within a lane, limits, due times. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import { deliveriesTo, makeAttempt, makeDispatch, makeStep, openDeliveries } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, idsOf, load, take } from './subject.ts';

/** Accepts `a1` on route a, and so on. */
async function acceptAll(store: Store, ids: readonly string[], max_concurrent: number | null = null): Promise<void> {
  for (const id of ids)
    await accept(store, id, { dispatch: makeDispatch(id, { route: id.charAt(0) }), max_concurrent });
}

async function takeOneByOne(store: Store, times: number): Promise<string> {
  const ids = [];
  for (let time = 0; time < times; time++) ids.push(...(await idsOf(store, await take(store, 2000, { runs: 1 }))));
  return ids.join(' ');
}

/** Answers that wait for delivery: `id: targets`. */
async function acceptAnswers(store: Store, answers: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [id, targets] of Object.entries(answers)) {
    const dispatch = makeDispatch(id, { deliveries: deliveriesTo(...targets) });
    await accept(store, id, {
      dispatch,
      work: { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, 1000) },
    });
  }
}

async function takeAttempts(store: Store, rest: Parameters<typeof take>[2]): Promise<string> {
  const { attempts } = await take(store, 2000, rest);
  return (await Promise.all(attempts.map(async ({ ref, index }) => `${(await load(store, ref)).id}${index}`))).join(
    ' ',
  );
}

export function turns(open: StoreOpener): void {
  it('lets lanes take turns within one call', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
    const taken = await take(store, 2000);
    assert.equal((await idsOf(store, taken)).join(' '), 'a1 b1 c1 a2 b2 a3');
    assert.deepEqual([taken.waiting, taken.next_due_at], [0, null]);
  });

  it('lets lanes take turns from one call to the next', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
    assert.equal(await takeOneByOne(store, 3), 'a1 b1 a2');
    await acceptAll(store, ['c1', 'c2']);
    assert.equal(await takeOneByOne(store, 6), 'c1 b2 a3 c2 a4');
  });

  it('treats routes of the same name in different profiles as separate lanes', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2'], 1);
    await accept(store, 'a3', { dispatch: makeDispatch('a3', { route: 'a', profile: 'red' }), max_concurrent: 1 });
    assert.equal((await idsOf(store, await take(store, 2000))).join(' '), 'a1 a3');
  });

  it('takes rows of a lane in order of due time, then of storing', async (t) => {
    const { store } = await open(t);
    for (const [id, now] of [
      ['late', 1500],
      ['x', 1000],
      ['y', 1000],
    ] as const) {
      await accept(store, id, { now });
    }
    assert.deepEqual(await idsOf(store, await take(store, 999)), []);
    assert.deepEqual(await idsOf(store, await take(store, 2000)), ['x', 'y', 'late']);
  });

  it('takes at most as many runs of a route as its limit, over all processes', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2', 'a3', 'a4'], 2);
    await acceptAll(store, ['b1']);
    const first = await take(store, 2000, { runs: 2 });
    assert.equal((await idsOf(store, first)).join(' '), 'a1 b1');
    const second = await take(store, 2000, { holder: 'another' });
    assert.deepEqual([await idsOf(store, second), second.waiting], [['a2'], 2]);
    assert.deepEqual((await take(store, 2000)).runs, []);
    await advance(store, first.runs[0]?.ref ?? 0, 'skipped', 2100);
    assert.deepEqual(await idsOf(store, await take(store, 2100)), ['a3']);
  });

  it('uses the latest limit of a route', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2', 'a3'], 1);
    assert.deepEqual(await idsOf(store, await take(store, 2000)), ['a1']);
    await acceptAll(store, ['a4'], 2);
    assert.deepEqual(await idsOf(store, await take(store, 2000)), ['a2']);
    await acceptAll(store, ['a5']);
    assert.deepEqual(await idsOf(store, await take(store, 2000)), ['a3', 'a4', 'a5']);
  });

  it('hands out nothing twice, even to two concurrent calls', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2', 'b1', 'b2', 'b3']);
    const both = await Promise.all([take(store, 2000, { runs: 3 }), take(store, 2000, { holder: 'another' })]);
    const [mine, theirs] = await Promise.all(both.map((taken) => idsOf(store, taken)));
    assert.deepEqual([mine?.length, theirs?.length], [3, 2]);
    assert.equal(new Set([...(mine ?? []), ...(theirs ?? [])]).size, 5);
  });

  it('counts the remaining waiting rows, and returns when the next row falls due', async (t) => {
    const { store } = await open(t);
    await acceptAll(store, ['a1', 'a2', 'a3']);
    await acceptAnswers(store, { x: ['log'] });
    const first = await take(store, 2000, { runs: 1, attempts: 0 });
    assert.deepEqual([first.attempts, first.waiting, first.next_due_at], [[], 2, null]);
    const { runs, attempts } = await take(store, 2000, { runs: 1 });
    await advance(store, runs[0]?.ref ?? 0, 'pending', 2100, { due_at: 9000 });
    const retry = makeStep({ kind: 'delivery', index: 0, outcome: 'retry', next_at: 8000 });
    await store.write({ ...makeAttempt(attempts[0]?.ref ?? 0, 0, 2100), step: retry, due_at: 8000 });
    const later = await take(store, 2200, { runs: 0 });
    assert.deepEqual([later.waiting, later.next_due_at], [2, 8000]);
    assert.deepEqual((await take(store, 8000)).next_due_at, 9000);
  });

  it('gives a process at most as many attempts to a target as its limit', async (t) => {
    const { store } = await open(t);
    await acceptAnswers(store, { a: ['log', 'email'], b: ['log'], c: ['log', 'email'], d: ['email'] });
    assert.equal(await takeAttempts(store, { attempts_per_target: 2, attempts: 3 }), 'a0 a1 b0');
    assert.equal(await takeAttempts(store, { attempts_per_target: 2 }), 'c1');
    assert.equal(await takeAttempts(store, { attempts_per_target: 1, holder: 'another' }), 'c0 d0');
    const { ref = 0 } = (await store.read({ kind: 'list', filter: { limit: 9 } })).find(({ id }) => id === 'a') ?? {};
    await store.write(makeAttempt(ref, 0, 2100));
    assert.equal(await takeAttempts(store, { attempts_per_target: 2 }), '');
  });

  it('lets targets take turns, separately for each profile', async (t) => {
    const { store } = await open(t);
    await acceptAnswers(store, { a: ['log'], b: ['log'], c: ['log', 'email'] });
    const dispatch = makeDispatch('d', { profile: 'red' });
    await accept(store, 'd', {
      dispatch,
      work: { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, 1000) },
    });
    const ones = [];
    for (let time = 0; time < 5; time++) ones.push(await takeAttempts(store, { attempts: 1 }));
    assert.equal(ones.join(' '), 'a0 c1 d0 b0 c0');
  });
}
