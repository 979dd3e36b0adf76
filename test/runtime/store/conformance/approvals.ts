/** Deliveries that wait for approval: the first answer counts, and nothing is sent without one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChangeDelivery, Store } from '../../../../runtime/store/contract.ts';
import type { ListFilter } from '../../../../runtime/store/queries.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import { openDelivery } from '../../../../runtime/store/unit/blocked.ts';
import { deliveriesTo, makeAccept, makeAttempt, makeClaim, makeDispatch } from '../../../helpers/dispatches.ts';
import { makeTick } from '../../../helpers/jobs.ts';
import type { StoreOpener } from './subject.ts';
import { advance, audit, find, load, overview, take, takeNew } from './subject.ts';

const HOUR = 3_600_000;
const KEY = { profile: 'default', route: 'alerts', delivery_id: 'm' };

const deliveries = deliveriesTo('log', 'slack').map((one, index) => (index === 0 ? one : { ...one, approve_ms: HOUR }));

/** A message with one delivery that has waited since `now`. */
const ask = (store: Store, id: string, now: number, prompt = 'text'): Promise<Ref> =>
  askOf(store, id, now, prompt, 'm');

async function askOf(store: Store, id: string, now: number, prompt = 'text', delivery_id = id): Promise<Ref> {
  const result = await attempt(store, id, now, prompt, delivery_id);
  assert.ok(result.kind === 'stored');
  return result.ref;
}

function attempt(store: Store, id: string, now: number, prompt = 'text', delivery_id = 'm') {
  const dispatch = makeDispatch(id, { mode: 'message', delivery_id, accepted_at: now, deliveries, prompt });
  const open = deliveries.map((one, index) => openDelivery(one, index, now));
  const work = { kind: 'deliveries', answer: null, open } as const;
  const claim = makeClaim(delivery_id, now + 100 * HOUR);
  return store.write(makeAccept(id, { dispatch, claim, work, now }));
}

interface Answer extends Partial<Pick<ChangeDelivery, 'index' | 'since' | 'now'>> {
  readonly approve?: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly delay_ms?: number;
}

function answer(
  store: Store,
  ref: Ref,
  { approve = true, by = 'ann', reason, delay_ms, ...rest }: Answer = {},
): Promise<boolean> {
  const values = { approve, by, reason: reason ?? null, ...(delay_ms === undefined ? {} : { delay_ms }) };
  const of = { change: 'answer_approval', ref, index: 1, since: 1000, values, dispatch: null, now: 2000 };
  return store.write({ kind: 'change_delivery', ...of, ...rest });
}

/** Of an approval of 2000. */
function undo(store: Store, ref: Ref, rest: Partial<Pick<ChangeDelivery, 'index' | 'since' | 'now'>> = {}) {
  const values = { by: 'bob', from: 1000, until: 1000 + HOUR };
  const of = { change: 'undo_approval', ref, index: 1, since: 2000, values, dispatch: null, now: 3000 };
  return store.write({ kind: 'change_delivery', ...of, ...rest });
}

const due = async (store: Store, now: number) => (await take(store, now)).attempts.map(({ ref, ...one }) => one);

/** The waiting deliveries, without their dispatches. */
const waiting = async (store: Store) => (await store.read({ kind: 'blocked' })).map(({ ref, ...one }) => one);

const WAITS = {
  ...{ index: 1, id: 'a', profile: 'default', route: 'alerts', job: null, since: 1000, expires_at: 1000 + HOUR },
  ...{ blocked_by: 'approval', told_at: null },
};

export function approvals(open: StoreOpener): void {
  it('lets a delivery wait until it is approved, even after a crash, while the others are sent', async (t) => {
    const opened = await open(t);
    const ref = await ask(opened.store, 'a', 1000);
    assert.deepEqual(await due(opened.store, 1000), [{ index: 0 }]);
    await opened.store.write(makeAttempt(ref, 0, 1500));
    await opened.crash();
    const { store } = opened;
    assert.deepEqual(await waiting(store), [WAITS]);
    assert.deepEqual(await due(store, 1000 + HOUR - 1), []);
    assert.equal(await answer(store, ref, { reason: 'fine' }), true);
    assert.deepEqual(await waiting(store), []);
    assert.deepEqual(await due(store, 2000), [{ index: 1 }]);
    assert.deepEqual(await store.write(makeAttempt(ref, 1, 2500)), { state: 'done', reason: null });
    const { steps } = await load(store, ref);
    assert.deepEqual(
      steps.map(({ outcome, by, reason }) => [outcome, by, reason]),
      [
        ['ok', undefined, null],
        ['approved', 'ann', 'fine'],
        ['ok', undefined, null],
      ],
    );
    assert.deepEqual(await audit(store), []);
  });

  it('shows a delivery that needs approval as waiting, in lists, pages and counts', async (t) => {
    const { store } = await open(t);
    for (const [n, id] of ['a', 'b', 'c', 'd'].entries()) await askOf(store, id, 1000 + n);
    const other = makeDispatch('e', { mode: 'message', deliveries: deliveriesTo('slack') });
    const work = { kind: 'deliveries', answer: null, open: [{ index: 0, target: 'slack', due_at: 9000 }] } as const;
    await store.write(makeAccept('e', { dispatch: other, work, now: 2000 }));
    const list = async (filter: Partial<ListFilter>) =>
      (await store.read({ kind: 'list', filter: { limit: 9, ...filter } })).map(({ id, state }) => `${id} ${state}`);
    const page = await store.read({ kind: 'list', filter: { state: 'waiting', limit: 2 } });
    assert.deepEqual(
      page.map(({ id }) => id),
      ['d', 'c'],
    );
    assert.deepEqual(await list({ state: 'waiting', before: page[1]?.ref ?? 0 }), ['b waiting', 'a waiting']);
    assert.deepEqual(await list({ state: 'delivering' }), ['e delivering']);
    assert.equal(await answer(store, (await find(store, 'b'))?.ref ?? 0, { since: 1001 }), true);
    assert.deepEqual(await list({ state: 'waiting', route: 'alerts' }), ['d waiting', 'c waiting', 'a waiting']);
    assert.deepEqual(await list({ state: 'delivering' }), ['e delivering', 'b delivering']);
    assert.deepEqual(await list({ oldest_open: true, limit: 2 }), ['a waiting', 'b delivering']);
    assert.equal((await find(store, 'a'))?.state, 'waiting');
    const { tallies } = await overview(store);
    const sum = (state: 'accepted' | 'delivering' | 'waiting'): number =>
      tallies.reduce((all, tally) => all + tally[state], 0);
    assert.deepEqual([sum('accepted'), sum('delivering'), sum('waiting')], [5, 2, 3]);
    assert.deepEqual(await audit(store), []);
  });

  it('accepts only the first answer when several are written at once', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    const by = ['ann', 'bob', 'cid', 'dan'];
    const all = await Promise.all(by.map((name, n) => answer(store, ref, { by: name, approve: n % 2 === 1 })));
    assert.equal(all.filter((counts) => counts).length, 1);
    assert.deepEqual(
      (await load(store, ref)).steps.map((step) => step.by),
      [by[all.indexOf(true)]],
    );
    assert.equal(await answer(store, ref), false);
  });

  it('makes a rejected delivery due, as not approved', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    assert.equal(await answer(store, ref, { approve: false, reason: 'spam' }), true);
    assert.deepEqual(await waiting(store), []);
    assert.deepEqual(await due(store, 2000), [{ index: 0 }, { index: 1, unsent: 'refused' }]);
  });

  it('skips a rejected delivery unless another target has failed, and requests approval again on replay', async (t) => {
    const { store } = await open(t);
    const failed = (ref: Ref, index: number, reason: string) =>
      store.write(makeAttempt(ref, index, 2200, { outcome: 'permanent', reason }));
    const reject = async (ref: Ref): Promise<Ref> => {
      await answer(store, ref, { approve: false });
      await take(store, 2000);
      return ref;
    };
    const ref = await reject(await ask(store, 'a', 1000));
    await store.write(makeAttempt(ref, 0, 2100));
    assert.deepEqual(await failed(ref, 1, 'not_approved'), { state: 'skipped', reason: 'slack: not_approved' });
    const { last_error, tallies } = await overview(store);
    assert.deepEqual([last_error, tallies.map(({ skipped, dead }) => [skipped, dead])], [null, [[1, 0]]]);
    assert.deepEqual(await store.read({ kind: 'dead_work' }), []);
    const again = { kind: 'resend', ref, key: KEY, again: false, now: 3000 } as const;
    assert.equal((await store.write(again)).kind, 'stored');
    assert.deepEqual([await due(store, 3000), (await waiting(store)).length], [[], 1]);
    const other = await reject(await askOf(store, 'b', 1000));
    await failed(other, 0, 'no');
    assert.deepEqual(await failed(other, 1, 'not_approved'), { state: 'dead', reason: 'log: no; slack: not_approved' });
    assert.deepEqual(await audit(store), []);
  });

  it('keeps the id of a rejected message: a later attempt is a duplicate, and one after its claim a new event', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    await answer(store, ref, { approve: false });
    await take(store, 2000);
    await store.write(makeAttempt(ref, 0, 2100));
    const rejected = makeAttempt(ref, 1, 2200, { outcome: 'permanent', reason: 'not_approved' });
    assert.equal((await store.write({ ...rejected, key: KEY }))?.state, 'skipped');
    assert.deepEqual(await attempt(store, 'b', 3000), { kind: 'duplicate' });
    assert.deepEqual(await waiting(store), []);
    assert.notEqual(await ask(store, 'c', 300 * HOUR), ref);
    assert.equal((await load(store, ref)).state, 'skipped');
    assert.deepEqual(await audit(store), []);
  });

  it('makes a delivery due when its approval expires, and rejects answers from then on', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    await take(store, 1000);
    assert.equal(await answer(store, ref, { now: 1000 + HOUR }), false);
    assert.deepEqual(await due(store, 1000 + HOUR), [{ index: 1, unsent: 'expired' }]);
    assert.deepEqual(await waiting(store), []);
    assert.equal(await answer(store, ref, { now: 1000 }), false);
  });

  it('keeps a delivery that was put back refused, or expired', async (t) => {
    const { store } = await open(t);
    const refused = await ask(store, 'a', 1000);
    const expired = await askOf(store, 'b', 1000);
    await take(store, 1000);
    await answer(store, refused, { approve: false });
    const putBack = async (ref: Ref, at: number): Promise<void> => {
      const of = { kind: 'record_attempt', ref, index: 1, holder: 'this process', step: null } as const;
      assert.notEqual(await store.write({ ...of, at, due_at: at + 5000 }), null);
    };
    assert.deepEqual(await due(store, 2000), [{ index: 1, unsent: 'refused' }]);
    await putBack(refused, 2100);
    assert.deepEqual(await due(store, 1000 + HOUR), [
      { index: 1, unsent: 'refused' },
      { index: 1, unsent: 'expired' },
    ]);
    for (const ref of [refused, expired]) await putBack(ref, 1000 + HOUR);
    assert.equal(await answer(store, refused, { since: 7100, now: 7000 }), false);
    assert.deepEqual(await due(store, 6000 + HOUR), [
      { index: 1, unsent: 'refused' },
      { index: 1, unsent: 'expired' },
    ]);
  });

  it('rejects a change that no module brings, and an answer with other values', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    const change = { kind: 'change_delivery', ref, index: 1, since: 1000, dispatch: null, now: 2000 } as const;
    const values = { approve: true, by: 'ann', reason: null };
    for (const name of ['', 'constructor', '__proto__', 'approve'])
      await assert.rejects(store.write({ ...change, change: name, values }));
    for (const odd of [{}, { ...values, approve: 'yes' }, { ...values, by: 1 }])
      await assert.rejects(store.write({ ...change, change: 'answer_approval', values: odd }));
    assert.deepEqual(await waiting(store), [WAITS]);
  });

  it('rejects an answer for a delivery that waits since another time, is unknown, or needs no approval', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    assert.equal(await answer(store, ref, { since: 999 }), false);
    assert.equal(await answer(store, ref, { index: 0 }), false);
    assert.equal(await answer(store, ref, { index: 7 }), false);
    assert.equal(await answer(store, ref + 100), false);
    assert.deepEqual(await waiting(store), [WAITS]);
  });

  it('sends an approval that can be undone after its delay, even after a crash, and exactly once', async (t) => {
    const opened = await open(t);
    const ref = await ask(opened.store, 'a', 1000);
    assert.deepEqual(await due(opened.store, 1000), [{ index: 0 }]);
    await opened.store.write(makeAttempt(ref, 0, 1500));
    assert.equal(await answer(opened.store, ref, { delay_ms: 5000 }), true);
    assert.deepEqual(await waiting(opened.store), []);
    await opened.crash();
    const { store } = opened;
    assert.equal(await answer(store, ref, { approve: false, now: 3000 }), false, 'the first answer counts');
    const taken = await take(store, 6999);
    assert.deepEqual([taken.attempts, taken.next_due_at], [[], 7000]);
    assert.deepEqual(await due(store, 7000), [{ index: 1 }]);
    assert.equal(await undo(store, ref, { now: 7000 }), false);
    assert.deepEqual(await due(store, 8000), []);
    assert.equal((await store.write(makeAttempt(ref, 1, 7500)))?.state, 'done');
    const { steps } = await load(store, ref);
    assert.deepEqual(
      steps.map(({ outcome, by, started_at, next_at }) => [outcome, by, started_at, next_at]),
      [
        ['ok', undefined, steps[0]?.started_at, null],
        ['approved', 'ann', 1000, 7000],
        ['ok', undefined, steps[2]?.started_at, null],
      ],
    );
    assert.deepEqual(await audit(store), []);
  });

  it('lets a delivery wait for the rest of its time once its approval is undone, and be answered again', async (t) => {
    const opened = await open(t);
    const ref = await ask(opened.store, 'a', 1000);
    assert.deepEqual(await due(opened.store, 1000), [{ index: 0 }]);
    await opened.store.write(makeAttempt(ref, 0, 1500));
    await answer(opened.store, ref, { delay_ms: 5000 });
    assert.equal(await undo(opened.store, ref, { since: 1000 }), false, 'of another instant');
    assert.deepEqual(await Promise.all([undo(opened.store, ref), undo(opened.store, ref)]), [true, false]);
    await opened.crash();
    const { store } = opened;
    assert.deepEqual(await waiting(store), [WAITS]);
    assert.deepEqual(await due(store, 1000 + HOUR - 1), []);
    assert.equal(await undo(store, ref), false, 'no approval is left');
    assert.equal(await answer(store, ref, { approve: false, by: 'cy', now: 4000 }), true);
    assert.deepEqual(await due(store, 4000), [{ index: 1, unsent: 'refused' }]);
    const { steps } = await load(store, ref);
    assert.deepEqual(
      steps.slice(1).map(({ kind, index, outcome, by, at }) => [kind, index, outcome, by, at]),
      [
        ['delivery', 1, 'approved', 'ann', 2000],
        ['action', 1, 'undone', 'bob', 3000],
        ['delivery', 1, 'rejected', 'cy', 4000],
      ],
    );
  });

  it('ends a delivery as expired if its approval is undone after its time', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    await answer(store, ref, { delay_ms: 5000, now: HOUR });
    assert.equal(await undo(store, ref, { since: HOUR, now: HOUR + 2000 }), true);
    assert.deepEqual(await due(store, HOUR + 2000), [{ index: 0 }, { index: 1, unsent: 'expired' }]);
  });

  it('undoes nothing that was approved at once, was never approved, or has been tried', async (t) => {
    const { store } = await open(t);
    const other = await ask(store, 'a', 1000);
    assert.equal(await undo(store, other, { since: 1000, now: 1500 }), false);
    await answer(store, other);
    assert.equal(await undo(store, other, { since: 2000, now: 2000 }), false);
    await take(store, 2000);
    await store.write(makeAttempt(other, 1, 2200, { outcome: 'retry', next_at: 9000 }));
    assert.equal(await undo(store, other, { since: 2000 }), false);
  });

  it('stores one message that requests the approval', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    const tell = (id: string): Promise<boolean> => {
      const of = { mode: 'message', route: null, deliveries: deliveriesTo('email') } as const;
      const tell = { change: 'tell_approval', ref, index: 1, since: 1000, values: {}, now: 1100 };
      return store.write({ kind: 'change_delivery', ...tell, dispatch: makeDispatch(id, of) });
    };
    assert.deepEqual(await Promise.all([tell('n1'), tell('n2')]), [true, false]);
    assert.deepEqual(await waiting(store), [{ ...WAITS, told_at: 1100 }]);
    assert.equal((await find(store, 'n1'))?.state, 'delivering');
    assert.equal(await find(store, 'n2'), null);
    assert.equal(await answer(store, ref), true);
    assert.equal(await tell('n3'), false);
    assert.deepEqual(await audit(store), []);
  });

  it('keeps an approval while the target fails, and needs another one for another text', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    await answer(store, ref);
    await take(store, 2000);
    await store.write(makeAttempt(ref, 0, 2100));
    await store.write({ ...makeAttempt(ref, 1, 2200, { outcome: 'permanent', reason: 'no' }), key: KEY });
    const again = { kind: 'resend', ref, key: KEY, again: false } as const;
    assert.equal((await store.write({ ...again, now: 3000 })).kind, 'stored');
    assert.deepEqual(await due(store, 3000), [{ index: 1 }]);
    await store.write({ ...makeAttempt(ref, 1, 3200, { outcome: 'permanent', reason: 'no' }), key: KEY });
    assert.equal(await ask(store, 'b', 4000, 'another text'), ref);
    assert.deepEqual(await due(store, 4000), []);
    assert.deepEqual(await waiting(store), [{ ...WAITS, since: 4000, expires_at: 4000 + HOUR }]);
    // No answer arrives; the replayed delivery then waits too.
    assert.deepEqual(await due(store, 4000 + HOUR), [{ index: 1, unsent: 'expired' }]);
    const rejected = { outcome: 'rejected', reason: 'not_approved' } as const;
    await store.write({ ...makeAttempt(ref, 1, 4000 + HOUR, rejected), key: KEY });
    assert.equal((await load(store, ref)).state, 'dead');
    assert.equal((await store.write({ ...again, now: 9 * HOUR })).kind, 'stored');
    assert.deepEqual(await due(store, 9 * HOUR), []);
    assert.equal((await waiting(store)).length, 1);
  });

  it('needs another approval to resend a delivered text', async (t) => {
    const { store } = await open(t);
    const ref = await ask(store, 'a', 1000);
    await answer(store, ref);
    await take(store, 2000);
    for (const index of [0, 1]) await store.write({ ...makeAttempt(ref, index, 2100), key: KEY });
    await store.write({ kind: 'resend', ref, key: KEY, again: true, now: 3000 });
    assert.deepEqual(await due(store, 3000), [{ index: 0 }]);
    assert.equal((await waiting(store)).length, 1);
  });

  it('waits as long when the system clock moves back', async (t) => {
    const { store } = await open(t);
    await ask(store, 'a', 10 * HOUR);
    const under_way = { runs: [], attempts: [] };
    await store.write({ kind: 'recover', holder: 'this process', now: HOUR, under_way });
    assert.deepEqual(await waiting(store), [{ ...WAITS, since: HOUR, expires_at: 2 * HOUR }]);
  });

  it('lets the outputs of a run wait', async (t) => {
    const { store } = await open(t);
    const ref = await takeNew(store, 'a', { dispatch: makeDispatch('a', { deliveries }) });
    const waits = deliveries.map((one, index) => openDelivery(one, index, 2000));
    await advance(store, ref, 'delivering', 2000, { answer: 'text', open: waits });
    assert.deepEqual(await due(store, 2000), [{ index: 0 }]);
    assert.deepEqual(await waiting(store), [{ ...WAITS, since: 2000, expires_at: 2000 + HOUR }]);
  });

  it('lets the message of a job wait', async (t) => {
    const { store } = await open(t);
    const of = { mode: 'message', route: null, job: 'j', accepted_at: 1000, deliveries } as const;
    await store.write(makeTick('j', 1000, { now: 1000, dispatch: makeDispatch('a', of) }));
    assert.deepEqual(await due(store, 1000), [{ index: 0 }]);
    assert.deepEqual(await waiting(store), [{ ...WAITS, route: null, job: 'j' }]);
  });
}
