/** Pauses: a route that is paused has no due runs, holds its messages, and goes on where it was; a job pauses for a time. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PauseRoute } from '../../../../runtime/store/pauses.ts';
import { pausedRoutes } from '../../../../runtime/store/pauses.ts';
import type { Store } from '../../../../runtime/store/store.ts';
import { deliveriesTo, makeClaim, makeDispatch, openDeliveries } from '../../../helpers/dispatches.ts';
import { makeFire, makeTick } from '../../../helpers/jobs.ts';
import type { Open } from './subject.ts';
import { accept, advance, audit, find, idsOf, take } from './subject.ts';

const pause = (store: Store, rest: Partial<PauseRoute> = {}): Promise<null> =>
  store.write({
    ...{ kind: 'pause_route', profile: 'default', route: 'alerts', paused: true, until: null, now: 500 },
    ...rest,
  });

const messageOf = (id: string) =>
  makeDispatch(id, { mode: 'message', delivery_id: id, deliveries: deliveriesTo('log', 'email') });

const pausedAt = async (store: Store, now: number) =>
  pausedRoutes(await store.read({ kind: 'guard_rows', of: 'pause' }), now);

const runsAt = async (store: Store, now: number): Promise<readonly string[]> => idsOf(store, await take(store, now));

export function pauses(open: Open): void {
  it('takes no run of a paused route, of any agent, and all in their order once it goes on', async (t) => {
    const opened = await open(t);
    await accept(opened.store, 'a');
    await pause(opened.store);
    await accept(opened.store, 'b', { dispatch: makeDispatch('b', { agent: 'reviewer' }) });
    await accept(opened.store, 'c');
    await accept(opened.store, 'other', { dispatch: makeDispatch('other', { route: 'other' }) });
    const taken = await take(opened.store, 2000);
    assert.deepEqual(await idsOf(opened.store, taken), ['other']);
    assert.equal(taken.waiting, 0, 'what is held waits for nobody');
    await opened.crash();
    assert.deepEqual(await runsAt(opened.store, 2000), []);
    await pause(opened.store, { paused: false });
    assert.deepEqual([...(await runsAt(opened.store, 2000))].sort(), ['a', 'b', 'c']);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('goes on by itself, and wakes who sleeps until then', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a');
    await pause(store, { until: 5000 });
    const { runs, next_due_at } = await take(store, 2000);
    assert.deepEqual(runs, []);
    assert.equal(next_due_at, 5000);
    assert.deepEqual(await runsAt(store, 5000), ['a']);
  });

  it('holds a message, and has it sent once it goes on', async (t) => {
    const { store } = await open(t);
    await pause(store);
    const dispatch = messageOf('m');
    const work = { kind: 'deliveries', answer: null, open: openDeliveries(dispatch, 1000) } as const;
    const ref = await accept(store, 'm', { dispatch, work, claim: makeClaim('m') });
    assert.equal((await find(store, 'm'))?.state, 'pending');
    const again = await store.write({
      ...{ kind: 'accept', dispatch, max_concurrent: null, claim: makeClaim('m'), claiming: 'now', work, now: 1000 },
    });
    assert.equal(again.kind, 'duplicate');
    await pause(store, { paused: false });
    assert.deepEqual(await runsAt(store, 2000), ['m']);
    assert.equal(await advance(store, ref, 'delivering', 2000, { open: openDeliveries(dispatch, 2000) }), true);
    assert.equal((await take(store, 2000)).attempts.length, 2);
  });

  it('refuses a direct delivery, whose sender waits, and stores nothing of it', async (t) => {
    const { store } = await open(t);
    await pause(store, { until: 9000 });
    const direct = async (now: number) => {
      const change = { dispatch: messageOf('m'), claim: makeClaim('m'), now };
      const work = { kind: 'held', holder: 'one' } as const;
      return store.write({ kind: 'accept', max_concurrent: null, claiming: 'later', work, ...change });
    };
    assert.deepEqual(await direct(1000), { kind: 'route_paused', until: 9000 });
    assert.equal(await find(store, 'm'), null);
    assert.equal((await direct(9000)).kind, 'stored');
  });

  it('holds one run of a job; its schedule goes on before it, and never two at once, over restarts', async (t) => {
    const opened = await open(t);
    const [fired, again] = [
      makeFire('j', 'a', { claim: makeClaim('a') }),
      makeFire('j', 'b', { claim: makeClaim('b') }),
    ];
    const kindOf = async (change: typeof fired | ReturnType<typeof makeTick>) =>
      (await opened.store.write(change)).kind;
    const waitsOf = async (now: number) => {
      const known = { now, agents: [], paused: await pausedAt(opened.store, now) };
      const rows = await opened.store.read({ kind: 'list', filter: { limit: 9 }, known });
      const { waits_for, waits_since } = rows.find(({ id }) => id === 'a') ?? {};
      return [waits_for, waits_since];
    };
    const end = async (now: number) => {
      const [run] = await opened.store.read({ kind: 'list', filter: { limit: 9, state: 'running' } });
      assert.equal(await advance(opened.store, run?.ref ?? 0, 'done', now, { answer: 'x' }), true);
    };
    await pause(opened.store, { until: 9000 });
    assert.deepEqual(
      [await kindOf(fired), await kindOf(again), await kindOf(again)],
      ['stored', 'running', 'duplicate'],
    );
    assert.deepEqual(await runsAt(opened.store, 1500), []);
    await opened.restart();
    assert.equal(await kindOf(makeTick('j', 2000)), 'stored');
    assert.equal(await kindOf(makeTick('j', 2500)), 'running');
    assert.deepEqual(await waitsOf(2500), ['job', 2000]);
    assert.deepEqual(await runsAt(opened.store, 2600), ['j-2000']);
    await opened.crash();
    assert.equal(await kindOf(makeTick('j', 3000)), 'running');
    await end(3500);
    assert.deepEqual(await waitsOf(3600), ['pause', 3500]);
    assert.equal(await kindOf({ ...again, claim: null, now: 3700 }), 'running');
    assert.equal(await kindOf(makeTick('j', 4000)), 'stored');
    assert.deepEqual(await runsAt(opened.store, 8000), ['j-4000']);
    assert.deepEqual(await opened.store.read({ kind: 'sessions', profile: null }), []);
    assert.deepEqual([await runsAt(opened.store, 9000), await waitsOf(9000)], [[], ['job', 4000]]);
    assert.equal(await kindOf(makeTick('j', 9100)), 'running');
    await end(9200);
    assert.equal(await kindOf(makeTick('j', 9300)), 'running', 'what was held is due');
    assert.deepEqual(await runsAt(opened.store, 9400), ['a']);
    assert.equal(await kindOf(makeTick('j', 9500)), 'running');
    await end(9600);
    assert.equal(await kindOf(makeTick('j', 9700)), 'stored');
    assert.deepEqual(await audit(opened.store), []);
  });

  it('lets runs of a job by hand and of other routes go before one that is held, until the route goes on', async (t) => {
    const { store } = await open(t);
    await pause(store);
    const fire = async (id: string, route: string | null) =>
      (await store.write(makeFire('j', id, { dispatch: makeDispatch(id, { mode: 'job', job: 'j', route }) }))).kind;
    assert.deepEqual([await fire('a', 'alerts'), await fire('b', 'other')], ['stored', 'stored']);
    await pause(store, { route: 'other' });
    assert.deepEqual(
      [await fire('c', 'other'), await fire('d', null), await fire('e', null)],
      [...['running', 'stored', 'running']],
    );
    assert.deepEqual(await runsAt(store, 2000), ['d']);
    const refOf = async (id: string) => (await find(store, id))?.ref ?? 0;
    await advance(store, await refOf('d'), 'done', 2100, { answer: 'x' });
    await pause(store, { paused: false });
    assert.deepEqual(await runsAt(store, 2200), [], 'b has its turn before a');
    await pause(store, { route: 'other', paused: false });
    for (const id of ['b', 'a']) {
      assert.deepEqual(await runsAt(store, 2300), [id]);
      assert.equal(await fire('f', null), 'running');
      await advance(store, await refOf(id), 'done', 2400, { answer: 'x' });
    }
    assert.equal(await fire('f', null), 'stored');
  });

  it('holds each message of a job, which waits for no run, and sends those of its schedule', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    await pause(store);
    const of = (id: string, route: string | null) => {
      const deliveries = deliveriesTo('log');
      return makeDispatch(id, { mode: 'message', job: 'j', route, delivery_id: id, deliveries });
    };
    for (const id of ['a', 'b'])
      assert.equal((await store.write(makeFire('j', id, { dispatch: of(id, 'alerts') }))).kind, 'stored');
    assert.equal((await store.write(makeTick('j', 2000, { dispatch: of('t', null) }))).kind, 'stored');
    const { runs, attempts } = await take(store, 2000);
    assert.deepEqual([runs, attempts.length, (await find(store, 't'))?.state], [[], 1, 'delivering']);
    await opened.restart();
    await pause(opened.store, { paused: false });
    assert.deepEqual(await runsAt(opened.store, 3000), ['a', 'b']);
  });

  it('says of a run that is due that its route is paused', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a');
    await pause(store, { now: 1500 });
    const paused = await pausedAt(store, 2000);
    const known = { now: 2000, agents: [], paused };
    const [row] = await store.read({ kind: 'list', filter: { limit: 9 }, known });
    assert.deepEqual([row?.waits_for, row?.waits_since], ['pause', 1500]);
    assert.equal((await store.read({ kind: 'waits', known })).agent, 0);
  });

  it('says which routes are paused since when, and that nothing of theirs is overdue', async (t) => {
    const { store } = await open(t);
    await pause(store, { now: 500 });
    await pause(store, { now: 700, until: 8000 });
    assert.deepEqual(await pausedAt(store, 1000), [{ profile: 'default', route: 'alerts', since: 500, until: 8000 }]);
    assert.deepEqual(await pausedAt(store, 8000), []);
    await accept(store, 'a', { dispatch: makeDispatch('a', { agent: 'reviewer' }) });
    assert.equal(await store.read({ kind: 'oldest_due', now: 2000 }), null);
    assert.equal(await store.read({ kind: 'oldest_due', now: 8000 }), 1000);
  });

  it('fires a job again when its pause has ended by itself', async (t) => {
    const opened = await open(t);
    await opened.store.write({ kind: 'pause_job', job: 'j', paused: true, until: 5000, now: 500 });
    await opened.restart();
    const { store } = opened;
    assert.equal((await store.read({ kind: 'jobs' })).states.j?.paused_until, 5000);
    assert.equal((await store.write(makeTick('j', 4000, { now: 4000 }))).kind, 'paused');
    assert.equal((await store.write(makeTick('j', 6000, { now: 6000 }))).kind, 'stored');
    await store.write({ kind: 'pause_job', job: 'j', paused: false, now: 7000 });
    assert.equal((await store.read({ kind: 'jobs' })).states.j?.paused_until, null);
  });
}
