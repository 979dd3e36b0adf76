/** The queries of a store. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import { findDelivery, withDeliveryId } from '../../../../runtime/store/find-delivery.ts';
import type { ListFilter } from '../../../../runtime/store/queries.ts';
import { makeAttempt, makeDispatch, makeJoin, openDeliveries } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, find, overview, take, takeNew } from './subject.ts';

async function ids(store: Store, filter: ListFilter): Promise<string> {
  return (await store.read({ kind: 'list', filter })).map(({ id }) => id).join('');
}

export function queries(open: StoreOpener): void {
  it('adds up the figures of minutes, and deletes those that are older than a week', async (t) => {
    const opened = await open(t);
    const week = 604_800_000;
    const add = (minute: number, taken: number, most_us: number) =>
      opened.store.write({
        ...{ kind: 'add_figures', minute },
        figures: { taken, ignored: 1, duplicate: 0, refused: 0, failed: 0, half_us: 10, most_us, waiting: taken },
      });
    await add(60_000, 9, 9);
    assert.equal((await opened.store.read({ kind: 'figures', since: 0, slot_ms: 60_000 })).length, 1);
    await add(week + 60_000, 1, 300);
    await add(week + 60_000, 2, 100);
    await add(week + 120_000, 4, 200);
    await opened.restart();
    const rest = { duplicate: 0, refused: 0, failed: 0, half_us: 10 };
    assert.deepEqual(await opened.store.read({ kind: 'figures', since: 0, slot_ms: 60_000 }), [
      { slot: week + 60_000, taken: 3, ignored: 2, most_us: 300, waiting: 2, ...rest },
      { slot: week + 120_000, taken: 4, ignored: 1, most_us: 200, waiting: 4, ...rest },
    ]);
    await add(week + 180_000, 0, 0);
    const [all, ...more] = await opened.store.read({ kind: 'figures', since: 0, slot_ms: 2 * week });
    assert.deepEqual([all, more], [{ slot: 0, taken: 7, ignored: 4, most_us: 300, waiting: 4, ...rest }, []]);
  });

  it('lists dispatches by their ids, whatever their state, and counts the traffic of routes', async (t) => {
    const { store } = await open(t);
    const ref = await takeNew(store, 'a', { dispatch: makeDispatch('a', { route: 'one', accepted_at: 1000 }) });
    await advance(store, ref, 'dead', 2000, { reason: 'x' });
    for (const [id, route, at] of [
      ['b', 'two', 2000],
      ['c', 'one', 3000],
      ['d\'"', 'one', 4000],
    ] as const)
      await accept(store, id, { dispatch: makeDispatch(id, { route, accepted_at: at }) });
    const asked = { ids: ['d\'"', 'a', 'none', 'b'], limit: 9 };
    assert.equal(await ids(store, asked), 'd\'"ba');
    assert.equal(await ids(store, { ...asked, state: 'dead' }), 'a');
    assert.equal(await ids(store, { ids: [], limit: 9 }), '');
    const traffic = (since: number) => store.read({ kind: 'traffic', routes: ['two', 'one', 'none', 'one'], since });
    const one = { events: 2, last_at: 4000 };
    const [two, none] = [
      { events: 1, last_at: 2000 },
      { events: 0, last_at: null },
    ];
    assert.deepEqual(await traffic(2000), [two, one, none, one]);
    assert.deepEqual(await traffic(9000), [{ ...two, events: 0 }, { ...one, events: 0 }, none, { ...one, events: 0 }]);
    assert.deepEqual(await store.read({ kind: 'traffic', routes: [], since: 0 }), []);
  });

  it('lists the newest first, by state, route, job, time and page', async (t) => {
    const { store } = await open(t);
    const refs = [];
    for (const [id, route] of [
      ['a', 'one'],
      ['b', 'two'],
    ] as const) {
      refs.push(
        await takeNew(store, id, { dispatch: makeDispatch(id, { route, accepted_at: 1000 * (refs.length + 1) }) }),
      );
    }
    await advance(store, refs[0] ?? 0, 'done', 2000, { answer: 'x' });
    await advance(store, refs[1] ?? 0, 'dead', 2000, { reason: 'x' });
    for (const [id, route] of [
      ['c', 'one'],
      ['d', 'two'],
    ] as const) {
      const dispatch = makeDispatch(id, { route, accepted_at: 1000 * (refs.length + 1) });
      refs.push(await accept(store, id, { dispatch }));
    }
    const job = makeDispatch('e', { route: null, job: 'brief', mode: 'job', accepted_at: 5000 });
    await accept(store, 'e', { dispatch: job });
    assert.equal(await ids(store, { limit: 10 }), 'edcba');
    assert.equal(await ids(store, { limit: 2 }), 'ed');
    assert.equal(await ids(store, { limit: 10, before: refs[2] ?? 0 }), 'ba');
    assert.equal(await ids(store, { limit: 10, route: 'one' }), 'ca');
    assert.equal(await ids(store, { limit: 10, state: 'pending' }), 'edc');
    assert.equal(await ids(store, { limit: 2, oldest_open: true }), 'cd');
    assert.equal(await ids(store, { limit: 10, state: 'dead' }), 'b');
    assert.equal(await ids(store, { limit: 10, job: 'brief' }), 'e');
    assert.equal(await ids(store, { limit: 10, since: 3000 }), 'edc');
    assert.equal(await ids(store, { limit: 10, since: 2000, route: 'two', state: 'dead' }), 'b');
    assert.equal(await ids(store, { limit: 10, until: 3000 }), 'ba');
    assert.equal(await ids(store, { limit: 10, until: 1000 }), '');
    assert.equal(await ids(store, { limit: 10, since: 2000, until: 4000, route: 'one' }), 'c');
    assert.equal(await ids(store, { limit: 1, until: 5000, before: refs[3] ?? 0 }), 'c');
    // A message of the gateway itself has neither.
    await accept(store, 'f', { dispatch: makeDispatch('f', { route: null, event: 'alert' }) });
    assert.equal(await ids(store, { limit: 3 }), 'fed');
    assert.equal(await ids(store, { limit: 3, hide_own: true }), 'edc');
    assert.equal(await ids(store, { limit: 3, hide_own: true, before: refs[2] ?? 0 }), 'ba');
  });

  it('lists the dispatches with a delivery id, whatever its characters are', async (t) => {
    const { store } = await open(t);
    const odd = ['1', '12', '"', '\\', ',"1",', '%', "'", 'ü\u0000', 'push', 'a'];
    for (const [n, delivery_id] of odd.entries())
      await accept(store, `x${n}`, { dispatch: makeDispatch(`x${n}`, { delivery_id, agent: 'a' }) });
    await accept(store, 'again', { dispatch: makeDispatch('again', { delivery_id: '12', replay_of: 'x1' }) });
    for (const [n, id] of odd.entries()) {
      const found = await withDeliveryId(store, id);
      assert.deepEqual(
        found.map((each) => each.id),
        id === '12' ? ['again', 'x1'] : [`x${n}`],
        id,
      );
    }
    const kinds = await Promise.all(['"', '12', 'absent'].map((id) => findDelivery(store, id)));
    assert.deepEqual(
      kinds.map((found) => (found.kind === 'found' ? found.dispatch.id : found.kind)),
      ['x2', 'ambiguous', 'unknown'],
    );
  });

  it('finds dispatches by a text in event, delivery id, session, agent or targets, in either case', async (t) => {
    const { store } = await open(t);
    const quoted = { delivery_id: 'say "hi" \\ 100 %' };
    const delivery = { target: 'github_labels', extra: {}, unresolved: [] };
    const outputs = [{ name: 'label', fields: [], allow: {}, max: 1, delivery }];
    const deliveries = [{ target: 'telegram', label: 'ops', extra: {}, unresolved: [] }];
    await accept(store, 'a', { dispatch: makeDispatch('a', { event: 'pull_request', ...quoted }) });
    await accept(store, 'b', {
      dispatch: makeDispatch('b', { session: 's:Ann', session_key: 'Ann', agent: 'writer' }),
    });
    await accept(store, 'c', { dispatch: makeDispatch('c', { deliveries, outputs }) });
    const expected = {
      request: 'a',
      PULL_: 'a',
      'say "hi" \\': 'a',
      '100 %': 'a',
      '1_0': '',
      ann: 'b',
      WRIT: 'b',
      ops: 'c',
    };
    for (const [grep, found] of Object.entries({ ...expected, labels: 'c', telegram: '' }))
      assert.equal(await ids(store, { limit: 9, grep }), found, grep);
    const { targets } = (await store.read({ kind: 'list', filter: { limit: 1 } }))[0] ?? {};
    assert.equal(targets, 'ops, github_labels');
  });

  it('returns which of some dispatches have ended', async (t) => {
    const { store } = await open(t);
    const refs = [];
    for (const id of ['a', 'b', 'c', 'd']) refs.push(await takeNew(store, id, { dispatch: makeDispatch(id) }));
    await advance(store, refs[0] ?? 0, 'done', 2000, { answer: 'x' });
    await advance(store, refs[1] ?? 0, 'dead', 2000, { reason: 'x' });
    await advance(store, refs[3] ?? 0, 'skipped', 2000, { reason: 'x' });
    await accept(store, 'e', {});
    const ended = async (...ids: string[]) => (await store.read({ kind: 'ended', ids })).toSorted();
    assert.deepEqual(await ended('a', 'b', 'c', 'e', 'absent', "'"), ['a', 'b']);
    assert.deepEqual(await ended('d'), ['d']);
    assert.deepEqual(await ended(), []);
  });

  it('finds a dispatch by its id or a unique prefix of it', async (t) => {
    const { store } = await open(t);
    for (const id of ['0192-aa', '0192-ab', '0192', '7_%']) await accept(store, id);
    const look = async (id: string): Promise<string> => {
      const found = await store.read({ kind: 'find', id });
      return found.kind === 'found' ? found.dispatch.id : found.kind;
    };
    const asked = ['0192-aa', '0192-a', '0192', '0192-ab', '019', '7', '_', '%', 'x'];
    assert.deepEqual(await Promise.all(asked.map(look)), [
      ...['0192-aa', 'ambiguous', '0192', '0192-ab', 'ambiguous', '7_%', 'unknown', 'unknown', 'unknown'],
    ]);
    assert.equal(await store.read({ kind: 'load', ref: 99 }), null);
  });

  it('counts waiting and other work', async (t) => {
    const { store } = await open(t);
    assert.deepEqual((await overview(store, 1000)).backlog, {
      runs: 0,
      deliveries: 0,
      deliveries_delayed: 0,
      groups: 0,
    });
    const dispatch = makeDispatch('x');
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(dispatch, 1000) } as const;
    const ref = await accept(store, 'x', { dispatch, work });
    await accept(store, 'y', { dispatch: makeDispatch('y'), work });
    await takeNew(store, 'running', { now: 900 });
    await accept(store, 'a');
    await accept(store, 'b');
    await store.write(makeJoin('g', 'k', 1000));
    assert.deepEqual((await overview(store, 1000)).backlog, {
      runs: 2,
      deliveries: 2,
      deliveries_delayed: 0,
      groups: 1,
    });
    await take(store, 1000, { runs: 0, attempts: 1 });
    await store.write({ ...makeAttempt(ref, 0, 1100, null), due_at: 5000 });
    assert.deepEqual((await overview(store, 4999)).backlog, {
      runs: 2,
      deliveries: 1,
      deliveries_delayed: 1,
      groups: 1,
    });
    assert.deepEqual((await overview(store, 5000)).backlog, {
      runs: 2,
      deliveries: 2,
      deliveries_delayed: 0,
      groups: 1,
    });
  });

  it('counts pending work by the target that it needs', async (t) => {
    const { store } = await open(t);
    const to = (...targets: readonly string[]) => targets.map((target) => ({ target, extra: {}, unresolved: [] }));
    const sent = makeDispatch('sent', { route: 'one', deliveries: to('chat', 'mail') });
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(sent, 1000) } as const;
    const ref = await accept(store, 'sent', { dispatch: sent, work });
    await take(store, 1000, { runs: 0, attempts: 2 });
    await store.write({ ...makeAttempt(ref, 0, 1100), due_at: null });
    const ended = await takeNew(store, 'ended', {
      dispatch: makeDispatch('ended', { route: 'one', deliveries: to('chat') }),
    });
    await advance(store, ended, 'dead', 2000, { reason: 'x' });
    await takeNew(store, 'runs', { dispatch: makeDispatch('runs', { route: 'one', deliveries: to('chat', 'mail') }) });
    await accept(store, 'waits', { dispatch: makeDispatch('waits', { route: 'one', deliveries: to('mail') }) });
    const job = makeDispatch('job', { route: null, job: 'brief', mode: 'job', deliveries: to('chat') });
    await accept(store, 'job', { dispatch: job });
    await accept(store, 'nowhere', { dispatch: makeDispatch('nowhere', { route: 'two', deliveries: [] }) });
    const rows = (await store.read({ kind: 'open_work' })).map(
      ({ profile, route, job: of, target, count }) => `${profile} ${route} ${of} ${target}: ${count}`,
    );
    const dead = await store.read({ kind: 'dead_work' });
    assert.deepEqual(dead, [{ profile: 'default', route: 'one', job: null, job_name: null, count: 1, since: 2000 }]);
    assert.deepEqual(rows.sort(), [
      'default null brief chat: 1',
      'default one null chat: 1',
      'default one null mail: 3',
      'default two null null: 1',
    ]);
  });

  it('names a target in a reason as the configuration does', async (t) => {
    const { store } = await open(t);
    const deliveries = [{ target: 'messenger_a', label: 'telegram', extra: {}, unresolved: [] }];
    const sent = makeDispatch('sent', { deliveries });
    const work = { kind: 'deliveries', answer: 'x', open: openDeliveries(sent, 1000) } as const;
    const ref = await accept(store, 'sent', { dispatch: sent, work });
    await take(store, 1000, { runs: 0, attempts: 1 });
    const refused = { ...makeAttempt(ref, 0, 1100, { outcome: 'permanent', reason: 'chat not found' }), due_at: null };
    assert.deepEqual(await store.write(refused), { state: 'dead', reason: 'telegram: chat not found' });
  });

  it('returns the oldest open dispatch and the last error', async (t) => {
    const { store } = await open(t);
    const before = await overview(store);
    assert.deepEqual([before.oldest_open_at, before.last_error, before.damage], [null, null, null]);
    const ref = await takeNew(store, 'a', { dispatch: makeDispatch('a', { accepted_at: 500 }) });
    await accept(store, 'b', { dispatch: makeDispatch('b', { accepted_at: 700 }) });
    assert.equal((await overview(store)).oldest_open_at, 500);
    await advance(store, ref, 'dead', 900, { reason: 'no such channel' });
    const { oldest_open_at, last_error, bytes } = await overview(store);
    assert.equal(oldest_open_at, 700);
    assert.deepEqual(last_error, { id: 'a', route: 'alerts', at: 900, reason: 'no such channel' });
    assert.ok(bytes > 0);
    const skipped = await take(store, 1000);
    await advance(store, skipped.runs[0]?.ref ?? 0, 'skipped', 950, { reason: 'nothing to say' });
    assert.equal((await overview(store)).last_error?.id, 'a');
  });

  it('accepts exactly the sum of all states, for every route', async (t) => {
    const opened = await open(t);
    for (const [index, to] of (['done', 'dead', 'skipped', 'pending', null] as const).entries()) {
      const id = `d${index}`;
      const ref = await takeNew(opened.store, id, {
        dispatch: makeDispatch(id, { route: index % 2 === 0 ? 'even' : 'odd' }),
      });
      if (to !== null) await advance(opened.store, ref, to, 2000, { answer: 'x', due_at: 9000 });
    }
    await opened.restart();
    const { tallies } = await overview(opened.store);
    const [even, odd] = [...tallies].sort((a, b) => (a.route ?? '').localeCompare(b.route ?? ''));
    assert.deepEqual([even?.accepted, even?.done, even?.skipped, even?.running], [3, 1, 1, 1]);
    assert.deepEqual([odd?.accepted, odd?.dead, odd?.pending, odd?.removed], [2, 1, 1, 0]);
    assert.deepEqual(await audit(opened.store), []);
    assert.equal(await find(opened.store, 'nothing'), null);
  });
}
