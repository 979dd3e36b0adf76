/** Pauses: a paused route has no due runs and holds its messages, and resumes where it was; a job pauses for a time. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readRouteActions } from '../../../../runtime/store/actions.ts';
import type { BeginRun, Store } from '../../../../runtime/store/contract.ts';
import { withWaitReasons } from '../../../../runtime/store/named-waits.ts';
import type { PauseRoute, Ref } from '../../../../runtime/store/records.ts';
import { pausedRoutes } from '../../../../runtime/store/records.ts';
import { deliveriesTo, HOLDER, makeClaim, makeDispatch, openDeliveries } from '../../../helpers/dispatches.ts';
import { makeFire, makeTick } from '../../../helpers/jobs.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, find, idsOf, take } from './subject.ts';

const pause = (store: Store, rest: Partial<PauseRoute> = {}): Promise<null> =>
  store.write({
    ...{ kind: 'pause_route', profile: 'default', route: 'alerts', paused: true, until: null, now: 500 },
    ...rest,
  });

const messageOf = (id: string) =>
  makeDispatch(id, { mode: 'message', delivery_id: id, deliveries: deliveriesTo('log', 'email') });

const beginOf = (ref: Ref, at: number): BeginRun => ({
  ...{ kind: 'begin_run', ref, holder: HOLDER, limits: [], job: { id: 'j', paused: false }, at },
});

const pausedAt = async (store: Store, now: number) =>
  pausedRoutes(await store.read({ kind: 'guard_rows', of: 'pause' }), now);

const runsAt = async (store: Store, now: number): Promise<readonly string[]> => idsOf(store, await take(store, now));

export function pauses(open: StoreOpener): void {
  it('takes no run of a paused route, for any agent, and takes all in order after it resumes', async (t) => {
    const opened = await open(t);
    await accept(opened.store, 'a');
    await pause(opened.store);
    await accept(opened.store, 'b', { dispatch: makeDispatch('b', { agent: 'reviewer' }) });
    await accept(opened.store, 'c');
    await accept(opened.store, 'other', { dispatch: makeDispatch('other', { route: 'other' }) });
    const taken = await take(opened.store, 2000);
    assert.deepEqual(await idsOf(opened.store, taken), ['other']);
    assert.equal(taken.waiting, 0, 'held runs do not count as waiting');
    await opened.crash();
    assert.deepEqual(await runsAt(opened.store, 2000), []);
    await pause(opened.store, { paused: false });
    assert.deepEqual([...(await runsAt(opened.store, 2000))].sort(), ['a', 'b', 'c']);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('says who has paused a route, also after a crash', async (t) => {
    const opened = await open(t);
    await pause(opened.store, { by: 'console:ann' });
    await pause(opened.store, { by: 'cli:root', now: 600 });
    await opened.crash();
    const [one] = await pausedAt(opened.store, 700);
    assert.deepEqual([one?.since, one?.by], [500, 'cli:root']);
  });

  it('says who has last paused or resumed a route, also after a crash', async (t) => {
    const opened = await open(t);
    await pause(opened.store, { by: 'cli:root' });
    await pause(opened.store, { route: 'other', now: 550 });
    await pause(opened.store, { paused: false, by: 'console:ann', now: 600 });
    // It is not paused any more.
    await pause(opened.store, { paused: false, by: 'cli:bo', now: 650 });
    await opened.crash();
    const actions = await readRouteActions(opened.store, 700);
    assert.deepEqual(actions('default', 'alerts'), {
      paused: null,
      last_action: { did: 'resumed', at: 600, by: 'console:ann' },
    });
    assert.deepEqual(actions('default', 'other'), {
      paused: { since: 550, until: null },
      last_action: { did: 'paused', at: 550 },
    });
    assert.deepEqual(actions('team', 'alerts'), { paused: null, last_action: null });
  });

  it('resumes automatically, and wakes a loop that sleeps until then', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a');
    await pause(store, { until: 5000 });
    const { runs, next_due_at } = await take(store, 2000);
    assert.deepEqual(runs, []);
    assert.equal(next_due_at, 5000);
    assert.deepEqual(await runsAt(store, 5000), ['a']);
  });

  it('holds a message, and sends it after the route resumes', async (t) => {
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

  it('rejects a direct delivery, whose sender waits, and stores nothing of it', async (t) => {
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

  it('holds each event of a job without stopping its schedule; later one event fires it, the others find it running', async (t) => {
    const opened = await open(t);
    const fire = async (id: string, now: number) =>
      (await opened.store.write(makeFire('j', id, { claim: makeClaim(id), now }))).kind;
    const tick = async (now: number) => (await opened.store.write(makeTick('j', now))).kind;
    const refOf = async (id: string) => (await find(opened.store, id))?.ref ?? 0;
    const end = async (id: string, now: number) => advance(opened.store, await refOf(id), 'done', now, { answer: 'x' });
    const begin = async (id: string, at: number) => (await opened.store.write(beginOf(await refOf(id), at))).kind;
    assert.equal(await fire('first', 400), 'stored', 'it waits when its route is paused, and is held from then on');
    await pause(opened.store);
    assert.equal(await tick(1000), 'stored');
    assert.deepEqual(
      [await fire('a', 1000), await fire('b', 1000), await fire('a', 1000)],
      ['stored', 'stored', 'duplicate'],
    );
    assert.deepEqual(await runsAt(opened.store, 1100), ['j-1000']);
    assert.equal(await tick(1200), 'running');
    await opened.restart();
    await end('j-1000', 1300);
    assert.equal(await tick(2000), 'stored');
    await pause(opened.store, { paused: false });
    assert.deepEqual([...(await runsAt(opened.store, 2100))].sort(), ['a', 'b', 'first', 'j-2000']);
    assert.equal(await begin('first', 2100), 'job_already_running');
    await end('j-2000', 2200);
    assert.equal(await begin('a', 2200), 'begun');
    assert.deepEqual([await begin('a', 2200), await begin('b', 2200)], ['begun', 'job_already_running']);
    assert.deepEqual([await tick(2300), await fire('c', 2300)], ['running', 'running']);
    const { state, reason, finished_at } = (await find(opened.store, 'b')) ?? {};
    assert.deepEqual([state, reason, finished_at], ['skipped', 'job_already_running', 2200]);
    await end('a', 2400);
    assert.equal(await tick(2500), 'stored');
    assert.deepEqual(await audit(opened.store), []);
  });

  it('drops a held event if its job is paused when the route resumes, and never holds a manual run', async (t) => {
    const { store } = await open(t);
    await pause(store);
    const of = (route: string | null) => ({ dispatch: makeDispatch(`of ${route}`, { mode: 'job', job: 'j', route }) });
    assert.equal((await store.write(makeFire('j', 'a', of('alerts')))).kind, 'stored');
    assert.equal((await store.write(makeFire('j', 'b', of(null)))).kind, 'stored');
    assert.equal(
      (
        await store.write(
          makeFire('j', 'c', { dispatch: makeDispatch('c', { mode: 'job', job: 'j', route: 'other' }) }),
        )
      ).kind,
      'running',
    );
    assert.deepEqual(await runsAt(store, 2000), ['of null']);
    await advance(store, (await find(store, 'of null'))?.ref ?? 0, 'done', 2000, { answer: 'x' });
    await store.write({ kind: 'pause_job', job: 'j', paused: true, now: 2100 });
    await pause(store, { paused: false });
    assert.deepEqual(await runsAt(store, 2200), ['of alerts']);
    const { ref = 0 } = (await find(store, 'of alerts')) ?? {};
    assert.equal((await store.write(beginOf(ref, 2200))).kind, 'job_paused');
    assert.equal((await find(store, 'of alerts'))?.reason, 'job_paused');
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

  it('reports that the route of a due run is paused', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a');
    await pause(store, { now: 1500 });
    const named = withWaitReasons(
      store,
      () => 2000,
      () => [],
    );
    const [row] = await named.store.read({ kind: 'list', filter: { limit: 9 } });
    assert.deepEqual([row?.waits_for, row?.waits_since], ['pause', 1500]);
    assert.equal((await named.counts()).agent, 0);
  });

  it('reports which routes are paused since when, and that none of their work is overdue', async (t) => {
    const { store } = await open(t);
    await pause(store, { now: 500 });
    await pause(store, { now: 600 });
    assert.deepEqual(await pausedAt(store, 1000), [{ profile: 'default', route: 'alerts', since: 500, until: null }]);
    await pause(store, { now: 700, until: 8000 });
    assert.deepEqual(await pausedAt(store, 1000), [{ profile: 'default', route: 'alerts', since: 700, until: 8000 }]);
    assert.deepEqual(await pausedAt(store, 8000), []);
    await accept(store, 'a', { dispatch: makeDispatch('a', { agent: 'reviewer' }) });
    assert.equal(await store.read({ kind: 'oldest_due', now: 2000 }), null);
    assert.equal(await store.read({ kind: 'oldest_due', now: 8000 }), 1000);
  });

  it('keeps the duration of a pause when the clock moved back, and repeats nothing when it is right again', async (t) => {
    const AHEAD = 10_000_000;
    const opened = await open(t);
    const { store } = opened;
    await accept(store, 'a', { now: AHEAD });
    await accept(store, 'other', { dispatch: makeDispatch('other', { route: 'other' }), now: AHEAD });
    await pause(store, { now: AHEAD, until: AHEAD + 5000 });
    await pause(store, { route: 'other', now: AHEAD });
    const recover = (now: number) =>
      store.write({ kind: 'recover', holder: HOLDER, now, under_way: { runs: [], attempts: [] } });
    await recover(AHEAD + 1000);
    assert.equal((await pausedAt(store, AHEAD + 1000))[0]?.until, AHEAD + 5000);
    await recover(2000);
    assert.deepEqual(
      (await pausedAt(store, 2000)).map(({ route, since, until }) => [route, since, until]),
      [
        ['alerts', 2000, 7000],
        ['other', AHEAD, null],
      ],
    );
    assert.equal((await take(store, 6999)).next_due_at, 7000);
    await recover(2000);
    assert.deepEqual(await runsAt(store, 6999), []);
    assert.deepEqual(await runsAt(store, 7000), ['a']);
    assert.deepEqual(await audit(store), []);
  });

  it('keeps the duration of the pause of a job whose time starts again, because the clock moved back', async (t) => {
    const AHEAD = 10_000_000;
    const { store } = await open(t);
    const paused = { kind: 'pause_job', job: 'j', paused: true } as const;
    const restart = (now: number) => store.write({ kind: 'watch_job', job: 'j', signature: 's', now });
    const until = async () => (await store.read({ kind: 'jobs' })).states.j?.paused_until;
    await restart(AHEAD - 90_000);
    await store.write({ ...paused, until: AHEAD + 5000, now: AHEAD });
    await restart(AHEAD + 1000);
    assert.equal(await until(), AHEAD + 5000);
    await store.write({ ...paused, until: AHEAD + 5000, now: AHEAD });
    await restart(2000);
    assert.equal(await until(), 7000);
    await restart(2000);
    assert.equal(await until(), 7000);
    assert.equal((await store.write(makeTick('j', 6000))).kind, 'paused');
    assert.equal((await store.write(makeTick('j', 7000))).kind, 'stored');
    // Without an end it lasts.
    await store.write({ ...paused, now: AHEAD });
    await restart(9000);
    assert.equal(await until(), null);
    assert.equal((await store.write(makeTick('j', 10_000))).kind, 'paused');
  });

  it('fires a job again when its pause has expired', async (t) => {
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
