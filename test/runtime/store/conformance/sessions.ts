/** Sessions: their runs take turns, in the order of acceptance. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resetBody, resetRow } from '../../../../runtime/store/listed-rows.ts';
import { withWaitReasons } from '../../../../runtime/store/named-waits.ts';
import { HOLDER, makeAccept, makeDispatch, makeJoin } from '../../../helpers/dispatches.ts';
import type { OpenStore, StoreOpener } from './subject.ts';
import { accept, advance, audit, idsOf, take } from './subject.ts';

const of = (id: string, key: string, rest: Parameters<typeof makeDispatch>[1] = {}) =>
  makeDispatch(id, { session_key: key, session: `webhook:alerts:${key}`, ...rest });

const acceptIn = ({ store }: OpenStore, id: string, key: string, rest: Parameters<typeof makeDispatch>[1] = {}) =>
  accept(store, id, { dispatch: of(id, key, rest), claim: null });

export function sessions(open: StoreOpener): void {
  it('runs one after the other in the order of acceptance, across kills, and delays no other key', async (t) => {
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

  it('keeps the turn of a retried run, and passes on the turn of a dead one', async (t) => {
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

  it('orders a group by its first event', async (t) => {
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

  it('returns what each run waits for, and since when', async (t) => {
    const opened = await open(t);
    const agents = [{ profile: 'default', agent: 'reviewer', max_concurrent: 1 }];
    const namedAt = (now: number) =>
      withWaitReasons(
        opened.store,
        () => now,
        () => agents,
      ).store;
    const waits = async (now: number) => {
      const rows = await namedAt(now).read({ kind: 'list', filter: { limit: 9 } });
      return rows.map(({ id, turn, waits_for, waits_since }) => [id, turn, waits_for, waits_since]).reverse();
    };
    const first = await acceptIn(opened, 'a1', 'a', { agent: 'reviewer' });
    await acceptIn(opened, 'a2', 'a', { agent: 'reviewer' });
    await acceptIn(opened, 'a3', 'a');
    await take(opened.store, 1500, { agents });
    const other = await acceptIn(opened, 'b1', 'b', { agent: 'reviewer' });
    assert.deepEqual(await waits(1999), [
      ['a1', 1, null, null],
      ['a2', 2, 'session', 1000],
      ['a3', 3, 'session', 1000],
      ['b1', 1, 'agent', 1000],
    ]);
    const [busy, also] = await namedAt(1999).read({ kind: 'sessions', profile: 'default' });
    assert.deepEqual(
      [busy?.session, busy?.run.id, busy?.run.state, busy?.waiting],
      ['webhook:alerts:a', 'a1', 'running', 2],
    );
    assert.deepEqual(
      [also?.session, also?.run.id, also?.run.waits_for, also?.waiting],
      ['webhook:alerts:b', 'b1', 'agent', 0],
    );
    await advance(opened.store, first, 'done', 2000, { answer: 'x' });
    await opened.crash();
    await take(opened.store, 2000, { agents });
    const found = await namedAt(2500).read({ kind: 'load', ref: other });
    assert.deepEqual(
      [found?.agent, found?.session, found?.turn, found?.waits_for],
      ['reviewer', 'webhook:alerts:b', 1, found?.state === 'running' ? null : 'agent'],
    );
    const [ended, , third] = await waits(2500);
    assert.deepEqual(
      [ended, third],
      [
        ['a1', null, null, null],
        ['a3', 2, 'session', 1000],
      ],
    );
    const sessionsOf = async (profile: string | null) =>
      (await opened.store.read({ kind: 'sessions', profile })).map(({ session }) => session);
    assert.deepEqual(await sessionsOf('other'), []);
    assert.deepEqual(await sessionsOf(null), await sessionsOf('default'));
    assert.notEqual((await sessionsOf(null)).length, 0);
  });

  it('returns the turns of a session until it is reset or removed', async (t) => {
    const opened = await open(t);
    const of = { profile: 'default', session: 'webhook:alerts:a' };
    const said = async (turns = 20, chars = 1000) =>
      (await opened.store.read({ kind: 'said', of, turns, chars })).map(({ prompt, answer }) => [prompt, answer]);
    const runOne = async (id: string, answer: string, state: 'done' | 'delivering' = 'done') => {
      const ref = await acceptIn(opened, id, 'a');
      await take(opened.store, 1000);
      const next = state === 'done' ? {} : { open: [{ index: 0, target: 'log', due_at: 9000 }] };
      await advance(opened.store, ref, state, 1100 + ref, { answer, ...next });
      return ref;
    };
    await runOne('a1', 'one');
    await runOne('a2', '');
    await runOne('a3', 'thr\u0000ee \u{1f600}', 'delivering');
    await acceptIn(opened, 'b1', 'b');
    await acceptIn(opened, 'a4', 'a');
    const all = [
      ['prompt of a1', 'one'],
      ['prompt of a3', 'thr\u0000ee \u{1f600}'],
    ];
    assert.deepEqual(await said(), all);
    await opened.crash();
    assert.deepEqual(await said(), all);
    assert.deepEqual(await said(2), all);
    assert.deepEqual(await said(1), all.slice(1));
    assert.deepEqual(await said(20, 34), all.slice(1));
    assert.deepEqual(await said(20, 35), all);
    assert.deepEqual(await said(20, 19), []);
    const [latest] = await opened.store.read({ kind: 'list', filter: { limit: 1 } });
    const reset = { kind: 'put_guard', row: resetRow(of), expect: null, expires_at: null, dispatch: null } as const;
    await opened.store.write({ ...reset, body: resetBody(latest?.ref ?? 0), now: 2000 });
    assert.deepEqual(await said(), []);
    await take(opened.store, 2000);
    await advance(opened.store, latest?.ref ?? 0, 'done', 2100, { answer: 'four' });
    assert.deepEqual(await said(), []);
    await runOne('a5', 'five');
    assert.deepEqual(await said(), [['prompt of a5', 'five']]);
    await runOne('a6', 'six');
    await opened.store.write({ kind: 'cleanup', before: 1e6, after: 0, limit: 99 });
    assert.deepEqual(await said(), [['prompt of a6', 'six']]);
  });

  it('separates the sessions of profiles', async (t) => {
    const opened = await open(t);
    await acceptIn(opened, 'a1', 'a');
    await acceptIn(opened, 'a2', 'a', { profile: 'other' });
    assert.deepEqual([...(await idsOf(opened.store, await take(opened.store, 1000)))].sort(), ['a1', 'a2']);
  });

  it("limits an agent's concurrent runs over its routes, and delays no other agent", async (t) => {
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

/** Ends the run of this name; returns the runs that are taken then. */
async function endFirst({ store }: OpenStore, id: string): Promise<readonly string[]> {
  const found = await store.read({ kind: 'find', id });
  const ref = found.kind === 'found' ? found.dispatch.ref : 0;
  await advance(store, ref, 'done', 2100, { holder: 'next', answer: HOLDER });
  return idsOf(store, await take(store, 2100, { holder: 'next' }));
}
