/** A message is one row for each delivery id: attempts of the sender and replays continue it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Accept, Advance, MutationResults, Store } from '../../../../runtime/store/contract.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import type { Step } from '../../../../runtime/store/states.ts';
import {
  deliveriesTo,
  HOLDER,
  makeAccept,
  makeAttempt,
  makeClaim,
  makeDispatch,
  makeStep,
} from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { advance, audit, find, load, take, tally } from './subject.ts';

const { expires_at, ...KEY } = makeClaim('same');

/** An attempt of the sender, by default to `a` and `b`. */
const attempt = (
  store: Store,
  id: string,
  now: number,
  { deliveries = deliveriesTo('a', 'b'), ...more }: Partial<Accept> & Partial<Accept['dispatch']> = {},
): Promise<MutationResults['accept']> => {
  const dispatch = makeDispatch(id, {
    mode: 'direct',
    accepted_at: now,
    delivery_id: 'same',
    prompt: 'text',
    deliveries,
  });
  const claim = makeClaim('same', now + 60_000);
  const work = { kind: 'held', holder: HOLDER } as const;
  return store.write(makeAccept(id, { dispatch, claim, claiming: 'later', work, now, ...more }));
};

const step = (index: number, outcome: Step['outcome'], rest: Partial<Step> = {}): Step =>
  makeStep({ kind: 'delivery', index, outcome, ...(outcome === 'ok' ? {} : { reason: 'down' }), ...rest });

/** Ends an attempt: the outcome of each target. */
const end = (store: Store, ref: Ref, at: number, steps: readonly Step[], rest: Partial<Advance> = {}) =>
  advance(store, ref, rest.claim === undefined ? 'dead' : 'done', at, {
    ...(rest.claim === undefined ? { reason: 'down' } : {}),
    ...{ steps, ...rest },
  });

const isClaimed = (store: Store, now: number): Promise<boolean> => store.read({ kind: 'is_claimed', key: KEY, now });

function refOf(result: MutationResults['accept']): Ref {
  assert.ok('ref' in result, result.kind);
  return result.ref;
}

export function messages(open: StoreOpener): void {
  it('has one row for three attempts and a replay, and its id is claimed once it is done', async (t) => {
    const opened = await open(t);
    const first = refOf(await attempt(opened.store, 'one', 1000));
    await end(opened.store, first, 2000, [step(0, 'ok'), step(1, 'retry')]);
    await opened.restart();
    const { store } = opened;
    const second = await attempt(store, 'two', 3000);
    assert.ok('continued' in second);
    assert.deepEqual([second.ref, second.continued?.id, second.continued?.accepted_at], [first, 'one', 1000]);
    assert.deepEqual(
      second.continued?.steps.map(({ index, outcome }) => [index, outcome]),
      [
        [0, 'ok'],
        [1, 'retry'],
      ],
    );
    assert.equal((await load(store, first)).state, 'delivering');
    await end(store, first, 4000, [step(1, 'retry')]);
    assert.equal(await isClaimed(store, 4000), false);

    assert.deepEqual(await store.write({ kind: 'resend', ref: first, key: KEY, again: false, now: 5000 }), {
      kind: 'stored',
    });
    assert.equal(await isClaimed(store, 64_999), true);
    assert.deepEqual(await attempt(store, 'three', 5001), { kind: 'duplicate' });
    assert.deepEqual((await take(store, 5000)).attempts, [{ ref: first, index: 1 }]);
    const done = await store.write({ ...makeAttempt(first, 1, 9000), key: KEY });
    assert.deepEqual(done, { state: 'done', reason: null });
    assert.deepEqual([await isClaimed(store, 68_999), await isClaimed(store, 69_000)], [true, false]);
    assert.deepEqual((await load(store, first)).steps.length, 4);
    const { accepted, done: counted, dead, delivering } = await tally(store);
    assert.deepEqual([accepted, counted, dead, delivering], [1, 1, 0, 0]);
    assert.deepEqual(await audit(store), []);
  });

  it('is one message under its id and under its guard, which is free until the message is done', async (t) => {
    const opened = await open(t);
    const sent = (id: string, now: number) => ({
      claim: makeClaim(id, now + 60_000, { guard: '\nsigned', guard_expires_at: now + 9000 }),
    });
    const first = refOf(await attempt(opened.store, 'one', 1000, sent('same', 1000)));
    const crowd = { ...sent('other', 1000), work: { kind: 'held', holder: 'another' } } as const;
    assert.equal((await attempt(opened.store, 'crowd', 1000, crowd)).kind, 'held');
    await end(opened.store, first, 2000, [step(0, 'ok'), step(1, 'retry')]);
    await opened.restart();
    const { store } = opened;
    // The sender generates an id for each attempt.
    const again = await attempt(store, 'two', 3000, sent('other', 3000));
    assert.ok('continued' in again);
    assert.equal(again.ref, first);
    await end(store, first, 4000, [step(1, 'ok')], { claim: sent('other', 4000).claim });
    assert.equal((await attempt(store, 'three', 5000, sent('third', 5000))).kind, 'duplicate');
    assert.equal((await attempt(store, 'four', 12_999, sent('third', 12_999))).kind, 'duplicate');
    assert.equal((await attempt(store, 'five', 13_000, sent('third', 13_000))).kind, 'stored');
    assert.deepEqual(await audit(store), []);
  });

  it('releases the guard of a message that fails permanently, and claims it with a replay', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const deliveries = deliveriesTo('a');
    const sent = (id: string) => makeClaim(id, 90_000, { guard: '\nsigned', guard_expires_at: 50_000 });
    const { expires_at: _, guard_expires_at: __, ...key } = sent('same');
    const open_ = [{ index: 0, target: 'a', due_at: 1000 }];
    const work = { kind: 'deliveries', answer: null, open: open_ } as const;
    const ref = refOf(await attempt(store, 'one', 1000, { claim: sent('same'), claiming: 'now', work, deliveries }));
    const isFree = async (now: number) => !(await store.read({ kind: 'is_claimed', key: sent('other'), now }));
    assert.equal(await isFree(2000), false);
    await take(store, 2000);
    await store.write({ ...makeAttempt(ref, 0, 3000, { outcome: 'permanent', reason: 'no' }), key });
    assert.equal(await isFree(3000), true);
    await store.write({ kind: 'resend', ref, key, again: false, by: 'console:ann', now: 4000 });
    const action = (await load(store, ref)).steps.at(-1);
    assert.deepEqual(
      [action?.kind, action?.outcome, action?.by, action?.at],
      ['action', 'replayed', 'console:ann', 4000],
    );
    assert.equal(await isFree(4000), false);
    await take(store, 4000);
    await store.write({ ...makeAttempt(ref, 0, 5000), key });
    assert.equal(await isFree(5000), false);
  });

  it('frees the id when a replay fails permanently, and continues with the next attempt', async (t) => {
    const { store } = await open(t);
    const ref = refOf(await attempt(store, 'one', 1000));
    await end(store, ref, 2000, [step(0, 'retry'), step(1, 'retry')]);
    await store.write({ kind: 'resend', ref, key: KEY, again: false, now: 3000 });
    await take(store, 3000);
    const failed = { outcome: 'permanent', reason: 'no' } as const;
    await store.write({ ...makeAttempt(ref, 0, 4000), key: KEY });
    assert.equal((await attempt(store, 'two', 4000)).kind, 'duplicate');
    await store.write({ ...makeAttempt(ref, 1, 4000, failed), key: KEY });
    assert.equal((await load(store, ref)).state, 'dead');
    const next = await attempt(store, 'three', 4001);
    assert.ok('ref' in next);
    assert.equal(next.ref, ref);
  });

  it('is held by the request in progress, and is free for the next one when its process has ended', async (t) => {
    const opened = await open(t);
    const first = refOf(await attempt(opened.store, 'one', 1000));
    const other = { work: { kind: 'held', holder: 'other' } } as const;
    assert.deepEqual(await attempt(opened.store, 'two', 1000, other), { kind: 'held' });
    // The success of one target is recorded while the other is in progress.
    const early = { held: true, steps: [step(0, 'ok')] } as const;
    assert.equal(await advance(opened.store, first, 'delivering', 1500, early), true);
    assert.deepEqual(await attempt(opened.store, 'two', 1500, other), { kind: 'held' });
    await opened.crash();
    const { store } = opened;
    await store.write({ kind: 'recover', holder: 'other', now: 2000, under_way: { runs: [], attempts: [] } });
    assert.notEqual((await load(store, first)).reason, null);
    const next = await attempt(store, 'two', 3000, other);
    assert.ok('continued' in next);
    assert.deepEqual([next.ref, next.continued?.steps.map(({ outcome }) => outcome)], [first, ['ok']]);
    const claim = makeClaim('same', 99_000);
    assert.equal(await advance(store, first, 'done', 4000, { holder: 'other', claim, steps: [step(1, 'ok')] }), true);
    assert.equal(await isClaimed(store, 5000), true);
  });

  it('resumes the row for a change whose result was lost', async (t) => {
    const { store } = await open(t);
    const ref = refOf(await attempt(store, 'one', 1000));
    const again = await attempt(store, 'one again', 1001);
    assert.ok('ref' in again);
    assert.equal(again.ref, ref);
    assert.equal((await tally(store)).accepted, 1);
  });

  it('uses text and addresses of the latest attempt, and withdraws deliveries that it lacks', async (t) => {
    const { store } = await open(t);
    const at = (chat_id: string) => ({ target: 'a', extra: { chat_id }, unresolved: [] });
    const first = refOf(await attempt(store, 'one', 1000, { deliveries: [at('wrong'), ...deliveriesTo('b', 'c')] }));
    await end(store, first, 2000, [step(0, 'permanent'), step(1, 'ok'), step(2, 'retry', { sent: 1 })]);
    const deliveries = [...deliveriesTo('c', 'b'), at('right')];
    const dispatch = makeDispatch('two', { mode: 'direct', delivery_id: 'same', prompt: 'new', deliveries });
    const next = await attempt(store, 'two', 3000, { dispatch });
    assert.ok('continued' in next);
    assert.deepEqual(
      next.continued?.deliveries.map(({ target, extra }) => [target, extra.chat_id ?? '']),
      // The text has changed, so the piece that `c` received is not a part of it.
      [
        ['a', 'wrong'],
        ['b', ''],
        ['c', ''],
        ['c', ''],
        ['a', 'right'],
      ],
    );
    assert.deepEqual(
      next.continued?.steps.slice(3).map(({ index, outcome }) => [index, outcome]),
      [
        [0, 'withdrawn'],
        [2, 'withdrawn'],
      ],
    );
    const stored = await load(store, first);
    assert.deepEqual([stored.id, stored.dispatch.id, stored.dispatch.prompt], ['one', 'one', 'new']);
    await end(store, first, 4000, [step(3, 'ok'), step(4, 'retry')]);
    await store.write({ kind: 'resend', ref: first, key: KEY, again: false, now: 5000 });
    assert.deepEqual((await take(store, 5000)).attempts, [{ ref: first, index: 4 }]);
    assert.deepEqual(await audit(store), []);
  });

  it('resends a done message only on purpose, to all current targets', async (t) => {
    const { store } = await open(t);
    const ref = refOf(await attempt(store, 'one', 1000));
    await end(store, ref, 2000, [step(0, 'ok'), step(1, 'ok')], { claim: makeClaim('same', 9000) });
    const replay = (again: boolean) => store.write({ kind: 'resend', ref, key: KEY, again, now: 3000 });
    assert.deepEqual(await replay(false), { kind: 'done' });
    assert.deepEqual(await replay(true), { kind: 'stored' });
    assert.deepEqual(await replay(true), { kind: 'open' });
    assert.equal((await take(store, 3000)).attempts.length, 2);
    assert.deepEqual(await store.write({ kind: 'resend', ref: 999_999, key: KEY, again: true, now: 1 }), {
      kind: 'unknown',
    });
  });

  it('starts over once the id of a done message has expired, or its row was removed', async (t) => {
    const { store } = await open(t);
    const first = refOf(await attempt(store, 'one', 1000));
    await end(store, first, 2000, [step(0, 'ok'), step(1, 'ok')], { claim: makeClaim('same', 5000) });
    const second = refOf(await attempt(store, 'two', 6000));
    assert.notEqual(second, first);
    const replay = { kind: 'resend', ref: first, key: KEY, again: false, now: 6000 } as const;
    assert.deepEqual(await store.write(replay), { kind: 'done' });
    await end(store, second, 7000, [step(0, 'retry')]);
    await attempt(store, 'of another id', 7000, { claim: makeClaim('other') });
    await store.write({ kind: 'cleanup', before: 8000, after: 0, limit: 100 });
    assert.deepEqual([await find(store, 'one'), await find(store, 'two')], [null, null]);
    const third = await attempt(store, 'three', 9000);
    assert.ok('ref' in third && third.continued === undefined);
  });

  it('continues the replayed row when an earlier version has left several rows of one id', async (t) => {
    const { store } = await open(t);
    // Without a claim, because rows of an earlier version are not found by their id.
    const [one, two] = [
      refOf(await attempt(store, 'one', 1000, { claim: null })),
      refOf(await attempt(store, 'two', 1000, { claim: null })),
    ];
    for (const ref of [one, two]) await end(store, ref, 2000, [step(0, 'retry')]);
    const replay = (ref: Ref) => store.write({ kind: 'resend', ref, key: KEY, again: false, now: 3000 });
    assert.deepEqual(await replay(two), { kind: 'stored' });
    assert.deepEqual(await replay(one), { kind: 'superseded', by: two });
    assert.equal((await attempt(store, 'three', 3000)).kind, 'duplicate');
  });

  it('resends the stored answer of a run to the targets that do not have it', async (t) => {
    const { store } = await open(t);
    const dispatch = makeDispatch('a', { deliveries: deliveriesTo('a', 'b') });
    const ref = refOf(await store.write(makeAccept('a', { dispatch })));
    await take(store, 1000);
    await advance(store, ref, 'dead', 2000, { answer: 'x', reason: 'down', steps: [step(0, 'ok'), step(1, 'retry')] });
    await store.write({ kind: 'resend', ref, key: null, again: false, now: 3000 });
    assert.deepEqual((await take(store, 3000)).attempts, [{ ref, index: 1 }]);
    assert.deepEqual(await store.write(makeAttempt(ref, 1, 4000)), { state: 'done', reason: null });
    const { answer, steps } = await load(store, ref);
    assert.deepEqual([answer, steps.length], ['x', 3]);
    assert.deepEqual(await audit(store), []);
  });
}
