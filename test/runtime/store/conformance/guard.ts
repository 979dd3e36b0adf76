/** The rows of the guard: runs are counted against their limits, and rows are compared and replaced. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isRunTimes } from '../../../../modules/guard/runtime/loops.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { PutGuard } from '../../../../runtime/store/records.ts';
import type { LoopLimit } from '../../../../schemas/built/operations/types.ts';
import { makeAccept, makeClaim, makeDispatch, makeJoin } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, audit, take } from './subject.ts';

const MINUTE = 60_000;
const LIMIT: LoopLimit = {
  kind: 'runs',
  key: 'a\0b',
  most: 3,
  weight: 3,
  within_ms: 10 * MINUTE,
  pause_ms: 60 * MINUTE,
};

const run = async (store: Store, id: string, now: number, limits: readonly LoopLimit[] = [LIMIT]): Promise<string> => {
  const result = await store.write(makeAccept(id, { limits, now, claim: makeClaim(id, now + MINUTE) }));
  if (result.kind === 'stored' && result.over !== undefined) return `held until ${result.over.until}`;
  return result.kind === 'over_limit' ? `over until ${result.until}` : result.kind;
};

const rows = (store: Store, of: LoopLimit['kind'] | 'alert') => store.read({ kind: 'guard_rows', of });

const put = (rest: Partial<PutGuard> = {}): PutGuard => ({
  ...{ kind: 'put_guard', row: { kind: 'alert', key: 'x' }, expect: null, body: '{"n":1}' },
  ...{ expires_at: null, dispatch: null, now: 1000 },
  ...rest,
});

export function guard(open: StoreOpener): void {
  it('holds a run beyond the limit of its key, and pauses the key, even after a crash', async (t) => {
    const opened = await open(t);
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => run(opened.store, id, MINUTE)));
    assert.deepEqual(all, ['stored', 'stored', 'stored', `held until ${61 * MINUTE}`, `held until ${61 * MINUTE}`]);
    await opened.crash();
    const { store } = opened;
    assert.equal(await run(store, 'f', 61 * MINUTE - 1), `held until ${61 * MINUTE}`);
    assert.equal((await take(store, 61 * MINUTE - 1)).runs.length, 3);
    assert.equal(await run(store, 'g', 61 * MINUTE), 'stored');
    assert.equal((await take(store, 61 * MINUTE)).runs.length, 4);
    assert.deepEqual(await audit(store), []);
  });

  it('counts the runs of a sliding window separately for each key, and no duplicates', async (t) => {
    const { store } = await open(t);
    for (const [index, id] of ['a', 'b', 'c'].entries()) assert.equal(await run(store, id, index * MINUTE), 'stored');
    assert.equal(await run(store, 'c', 2 * MINUTE), 'duplicate');
    assert.equal(await run(store, 'other', 2 * MINUTE, [{ ...LIMIT, key: 'other' }]), 'stored');
    assert.equal(await run(store, 'd', 10 * MINUTE), 'stored');
    assert.equal(await run(store, 'e', 10 * MINUTE), `held until ${70 * MINUTE}`);
    // A clock that moved back does not make the pause longer.
    assert.equal(await run(store, 'f', 5 * MINUTE), 'stored');
  });

  it('without a pause, rejects runs only while the exchange continues', async (t) => {
    const { store } = await open(t);
    const limits: readonly LoopLimit[] = [{ ...LIMIT, kind: 'exchange', pause_ms: 0 }];
    for (const id of ['a', 'b', 'c']) assert.equal(await run(store, id, 0, limits), 'stored');
    assert.equal(await run(store, 'd', 9 * MINUTE, limits), 'over until null');
    assert.equal(await run(store, 'e', 10 * MINUTE, limits), 'stored');
  });

  it('counts nothing against the other limits of a run that one limit rejects', async (t) => {
    const { store } = await open(t);
    const limits = [
      { ...LIMIT, most: 1 },
      { ...LIMIT, key: 'wide' },
    ];
    assert.equal(await run(store, 'a', 0, limits), 'stored');
    assert.equal(await run(store, 'b', 0, limits), `held until ${60 * MINUTE}`);
    const times = (await rows(store, 'runs')).map(({ key, body }) => {
      const value: unknown = JSON.parse(body);
      return [key, isRunTimes(value) ? value.times.length : null];
    });
    assert.deepEqual(times, [
      ['a\0b', 0],
      ['wide', 3],
    ]);
    const paused = await store.read({ kind: 'guard_rows', of: 'runs', paused: true });
    assert.deepEqual(
      paused.map(({ key }) => key),
      ['a\0b'],
    );
  });

  it('counts a coalesce group once', async (t) => {
    const { store } = await open(t);
    const join = (id: string, now: number) =>
      store.write(makeJoin(id, 'group', now, { run_limits: [{ ...LIMIT, most: 1 }] }));
    assert.equal((await join('a', 0)).kind, 'stored');
    assert.equal((await join('b', 0)).kind, 'stored');
    assert.equal((await take(store, 10 * MINUTE)).runs.length, 1);
    const joined = await join('c', 9 * MINUTE);
    assert.ok(joined.kind === 'stored' && joined.over?.until === joined.due_at);
  });

  it('starts or drops a run that its key holds together with the change of the row, and no other', async (t) => {
    const { store } = await open(t);
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await run(store, id, 0);
    await take(store, 0);
    const heldIn = (body: string) => (JSON.parse(body) as { readonly held: readonly number[] }).held;
    const [row] = await store.read({ kind: 'guard_rows', of: 'runs', paused: true });
    const { body = '', key = '' } = row ?? {};
    const [first = 0, second = 0, third = 0] = heldIn(body);
    const of = { row: { kind: 'runs', key }, body, expires_at: 60 * MINUTE, by: 'cli:ann' } as const;
    const change = (ref: number, drop: boolean, expect = body) =>
      store.write(put({ ...of, expect, held: { ref, drop } }));
    assert.equal(await change(first, false, 'another'), false);
    assert.equal((await take(store, 2000)).runs.length, 0);
    assert.equal(await change(first, false), true);
    assert.equal(await change(second, true), true);
    assert.equal(await change(9_999_999, true), true);
    assert.deepEqual(
      (await take(store, 2000)).runs.map(({ ref }) => ref),
      [first],
    );
    // A run that has begun is not changed.
    assert.equal(await change(first, true), true);
    assert.deepEqual(
      (await take(store, 60 * MINUTE)).runs.map(({ ref }) => ref),
      [third],
    );
    const [released, dropped] = await Promise.all([first, second].map((ref) => store.read({ kind: 'load', ref })));
    assert.equal(dropped?.state, 'skipped');
    const actions = [released, dropped].map((one) => one?.steps.map(({ outcome, by }) => [outcome, by]));
    assert.deepEqual(actions, [[['released', 'cli:ann']], [['dropped', 'cli:ann']]]);
    assert.deepEqual(await audit(store), []);
  });

  it('replaces a row that is as expected, together with its message', async (t) => {
    const opened = await open(t);
    const [delivery] = makeDispatch('x').deliveries;
    const dispatch = makeDispatch('message', {
      ...{ mode: 'message', route: null, deliveries: [delivery ?? { target: 'log', extra: {}, unresolved: [] }] },
    });
    const both = await Promise.all([opened.store.write(put({ dispatch })), opened.store.write(put({ body: '2' }))]);
    assert.deepEqual(both, [true, false]);
    await opened.restart();
    const { store } = opened;
    assert.deepEqual(await rows(store, 'alert'), [{ kind: 'alert', key: 'x', body: '{"n":1}' }]);
    assert.equal((await take(store, 1000)).attempts.length, 1);
    assert.equal(await store.write(put({ expect: '{"n":1}', body: '{"n":2}' })), true);
    assert.equal(await store.write(put({ expect: '{"n":1}', body: null })), false);
    assert.equal(await store.write(put({ expect: '{"n":2}', body: null })), true);
    assert.deepEqual(await rows(store, 'alert'), []);
    assert.deepEqual(await audit(store), []);
  });

  it('forgets expired rows', async (t) => {
    const { store } = await open(t);
    await run(store, 'a', 0);
    await store.write(put());
    await store.write({ kind: 'expire_claims', now: 10 * MINUTE, after: '', limit: 100 });
    assert.deepEqual([(await rows(store, 'runs')).length, (await rows(store, 'alert')).length], [0, 1]);
    await accept(store, 'b', { now: 10 * MINUTE });
  });
}
