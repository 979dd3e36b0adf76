/** Recovery of the work of a process that has ended, and from a wrong clock. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Recover, UnderWay } from '../../../../runtime/store/contract.ts';
import {
  deliveriesTo,
  HOLDER,
  makeAttempt,
  makeClaim,
  makeDispatch,
  makeJoin,
  openDeliveries,
} from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, find, idsOf, load, overview, take, takeNew, tally } from './subject.ts';

const NOTHING = { runs: [], attempts: [] } as const;
const recover = (now: number, holder = 'the next process', under_way: UnderWay = NOTHING): Recover => {
  return { kind: 'recover', holder, now, under_way };
};

export function recovery(open: StoreOpener): void {
  it('makes runs of a killed process due again, before later ones', async (t) => {
    const opened = await open(t);
    const ref = await takeNew(opened.store, 'a');
    await accept(opened.store, 'b', { now: 1100 });
    await opened.crash();
    const { store } = opened;
    assert.deepEqual((await take(store, 2000, { runs: 0 })).waiting, 1);
    assert.deepEqual(await store.write(recover(3000)), { runs: 1, attempts: 0, given_up: [] });
    const [step] = (await load(store, ref)).steps;
    assert.deepEqual(
      [step?.kind, step?.outcome, step?.started_at, step?.at, typeof step?.reason],
      ['run', 'interrupted', 1000, 3000, 'string'],
    );
    assert.equal(await advance(store, ref, 'dead', 3000), false, 'a dead process holds nothing');
    const taken = await take(store, 3000, { holder: 'the next process' });
    assert.deepEqual([await idsOf(store, taken), taken.runs[0]?.failed], [['a', 'b'], 0]);
    assert.deepEqual(await audit(store), []);
  });

  it('makes deliveries in progress due again', async (t) => {
    const opened = await open(t);
    const dispatch = makeDispatch('a');
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, 1000) } as const;
    const ref = await accept(opened.store, 'a', { dispatch, work });
    await take(opened.store, 1000);
    await opened.crash();
    const { store } = opened;
    assert.deepEqual(await store.write(recover(3000)), { runs: 0, attempts: 1, given_up: [] });
    assert.equal(await store.write(makeAttempt(ref, 0, 3000)), null);
    assert.deepEqual((await take(store, 3000)).attempts, [{ ref, index: 0 }]);
    assert.deepEqual((await load(store, ref)).steps, []);
  });

  it('fails a dispatch that was delivered while its sender waited, and frees its id', async (t) => {
    const { store } = await open(t);
    const claim = makeClaim('same');
    const work = { kind: 'held', holder: 'before' } as const;
    await accept(store, 'a', { claim, claiming: 'later', work });
    const { given_up } = await store.write(recover(3000));
    const stored = await find(store, 'a');
    const reason = stored?.reason ?? assert.fail('a reason is stored');
    assert.deepEqual(given_up, [{ id: 'a', profile: 'default', route: 'alerts', job: null, reason }]);
    assert.deepEqual([stored?.state, stored?.finished_at], ['dead', 3000]);
    assert.equal((await overview(store)).last_error?.reason, reason);
    assert.equal(await store.read({ kind: 'is_claimed', key: claim, now: 3000 }), false);
    assert.deepEqual(await audit(store), []);
  });

  it("releases none of the recovering process's own work in progress", async (t) => {
    const { store } = await open(t);
    const dispatch = makeDispatch('c');
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, 1000) } as const;
    const delivered = await accept(store, 'c', { dispatch, work });
    const ref = await takeNew(store, 'a');
    await accept(store, 'b', { work: { kind: 'held', holder: HOLDER } });
    const under_way = { runs: [ref], attempts: [{ ref: delivered, index: 0 }] };
    const nothing = { runs: 0, attempts: 0, given_up: [] };
    assert.deepEqual(await store.write(recover(3000, HOLDER, under_way)), nothing);
    assert.equal(await advance(store, ref, 'skipped', 3000), true);
    assert.equal((await store.write(makeAttempt(delivered, 0, 3000)))?.state, 'done');
    assert.equal((await find(store, 'b'))?.state, 'delivering');
  });

  it('releases work that a process holds without knowing it, as if it had not been taken', async (t) => {
    const { store } = await open(t);
    const dispatch = makeDispatch('lost delivery', { deliveries: deliveriesTo('log', 'log') });
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, 1000) } as const;
    const delivery = await accept(store, 'lost delivery', { dispatch, work });
    const known = await takeNew(store, 'known');
    const lost = await takeNew(store, 'lost');
    const under_way = { runs: [known], attempts: [{ ref: delivery, index: 1 }] };
    const released = { runs: 1, attempts: 1, given_up: [] };
    assert.deepEqual(await store.write(recover(3000, HOLDER, under_way)), released);
    assert.equal(await advance(store, lost, 'dead', 3000), false);
    assert.equal(await store.write(makeAttempt(delivery, 0, 3000)), null);
    const taken = await take(store, 3000);
    assert.deepEqual([await idsOf(store, taken), taken.runs[0]?.failed], [['lost'], 0]);
    assert.deepEqual(taken.attempts, [{ ref: delivery, index: 0 }]);
    assert.deepEqual((await load(store, lost)).steps, []);
    assert.deepEqual([(await tally(store)).running, await audit(store)], [2, []]);
  });

  it('lets nothing wait for an old time after the clock moved back', async (t) => {
    const { store } = await open(t);
    const AHEAD = 10_000_000;
    const run = await takeNew(store, 'run', { now: AHEAD });
    await advance(store, run, 'pending', AHEAD, { due_at: AHEAD + 2000 });
    const dispatch = makeDispatch('delivery');
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, AHEAD) } as const;
    const delivery = await accept(store, 'delivery', { dispatch, work, now: AHEAD });
    await take(store, AHEAD);
    const retry = { ...makeAttempt(delivery, 0, AHEAD, { outcome: 'retry', reason: 'busy' }), due_at: AHEAD + 3000 };
    await store.write(retry);
    await store.write(makeJoin('group', 'k', AHEAD));
    await accept(store, 'new', { now: AHEAD });
    assert.equal((await take(store, 1000)).next_due_at, AHEAD);
    await store.write(recover(1000, HOLDER));
    assert.deepEqual(await idsOf(store, await take(store, 1000)), ['new']);
    assert.deepEqual(await idsOf(store, await take(store, 3000)), ['run']);
    assert.deepEqual((await take(store, 3999)).attempts, []);
    assert.deepEqual((await take(store, 4000)).attempts, [{ ref: delivery, index: 0 }]);
    assert.equal((await take(store, 4000)).next_due_at, 31_000);
    // The group's maximum wait also starts now.
    const joined = await store.write(
      makeJoin('group 2', 'k', 30_000, { limits: { window_ms: 30_000, max_wait_ms: 40_000 } }),
    );
    assert.equal(joined.kind === 'stored' && joined.due_at, 41_000);
  });

  it('leaves work alone that only waits for a long time', async (t) => {
    const { store } = await open(t);
    const ref = await takeNew(store, 'a');
    await advance(store, ref, 'pending', 2000, { due_at: 9e9 });
    await store.write(recover(3000));
    assert.equal((await take(store, 3000)).next_due_at, 9e9);
  });
}
