/** The life of a dispatch: its runs, its answer, its delivery attempts and its end. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Advance } from '../../../../runtime/store/contract.ts';
import { FINAL_STATES } from '../../../../runtime/store/states.ts';
import {
  deliveriesTo,
  HOLDER,
  makeAttempt,
  makeDispatch,
  makeStep,
  openDeliveries,
} from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, find, load, overview, take, takeNew, tally } from './subject.ts';

const failed = makeStep({ outcome: 'failed', reason: 'exit code 1', next_at: 5000 });

export function runs(open: StoreOpener): void {
  it('stores the times, the answer and the steps of a dispatch', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const ref = await takeNew(store, 'a');
    assert.deepEqual([(await load(store, ref)).state, (await load(store, ref)).started_at], ['running', 1000]);
    const again = { due_at: 5000, reason: 'run failed: exit code 1', steps: [failed] };
    assert.equal(await advance(store, ref, 'pending', 2000, again), true);
    assert.equal((await load(store, ref)).reason, 'run failed: exit code 1');
    assert.deepEqual((await take(store, 4999)).runs, []);
    assert.deepEqual((await take(store, 5000)).runs, [{ ref, profile: 'default', route: 'alerts', failed: 1 }]);
    const answer = 'answer with NUL \0, a lone surrogate \ud800 and 😀';
    const open_ = openDeliveries(makeDispatch('a'), 6000);
    assert.equal(await advance(store, ref, 'delivering', 6000, { started_at: 5001, answer, open: open_ }), true);
    assert.deepEqual((await take(store, 6000)).attempts, [{ ref, index: 0 }]);
    const sent = makeAttempt(ref, 0, 7000, { sent: 1, message_id: '7\0' });
    assert.deepEqual(await store.write(sent), { state: 'done', reason: null });
    await opened.restart();
    const stored = await find(opened.store, 'a');
    assert.deepEqual(
      [stored?.state, stored?.started_at, stored?.answered_at, stored?.finished_at, stored?.reason],
      ['done', 5001, 6000, 7000, null],
    );
    assert.equal(stored?.answer, answer);
    assert.deepEqual(stored?.steps, [failed, sent.step]);
    assert.deepEqual(stored?.dispatch, makeDispatch('a'));
  });

  it("adds the deliveries of a run's outputs in the change that stores its answer", async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const plain = makeDispatch('a');
    const ref = await takeNew(store, 'a');
    const output = { name: 'note', content: { text: 'n\0', labels: ['x'] } };
    const handed = { target: 'chat', extra: { chat_id: '7' }, unresolved: [], output };
    const dropped = [{ output: null, line: 2, reason: 'malformed', detail: 'no JSON' }] as const;
    const dispatch = { ...plain, deliveries: [...plain.deliveries, handed], dropped: [...dropped] };
    const change = { answer: 'yes', open: openDeliveries(dispatch, 2000), dispatch, grown: 100 };
    assert.equal(await advance(store, ref, 'delivering', 2000, change), true);
    assert.equal(await advance(store, ref, 'delivering', 2000, change), false, 'another run of it stores nothing');
    await opened.restart();
    const taken = (await take(opened.store, 2000)).attempts;
    assert.deepEqual(taken.map(({ index }) => index).sort(), [0, 1]);
    assert.deepEqual((await load(opened.store, ref)).dispatch, dispatch);
    const failed = makeAttempt(ref, 1, 3000, { outcome: 'permanent', reason: 'gone' });
    assert.deepEqual((await opened.store.write(failed))?.state, 'delivering');
    assert.deepEqual(await opened.store.write(makeAttempt(ref, 0, 3000)), { state: 'dead', reason: 'chat: gone' });
    assert.deepEqual(await opened.store.write({ kind: 'resend', ref, key: null, again: false, now: 4000 }), {
      kind: 'stored',
    });
    assert.deepEqual((await take(opened.store, 4000)).attempts, [{ ref, index: 1 }]);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('stores the message to on_failure in the change that ends the run, and in no other', async (t) => {
    const opened = await open(t);
    const ref = await takeNew(opened.store, 'a');
    const of = { mode: 'message', route: null, event: 'run_failed', prompt: 'p\0\ud800', session_key: null } as const;
    const message = makeDispatch('m', { ...of, deliveries: deliveriesTo('email', 'chat') });
    const change = { reason: 'run failed: no', steps: [failed], message };
    assert.equal(await advance(opened.store, ref, 'dead', 2000, change), true);
    assert.equal(await advance(opened.store, ref, 'dead', 2000, { ...change, message: makeDispatch('n', of) }), false);
    await opened.restart();
    const { store } = opened;
    const stored = await find(store, 'm');
    assert.deepEqual([stored?.state, stored?.dispatch], ['delivering', message]);
    assert.equal(await find(store, 'n'), null);
    const { attempts } = await take(store, 2000);
    assert.deepEqual(attempts.map(({ index }) => index).sort(), [0, 1]);
    assert.deepEqual(await audit(store), []);
  });

  it('returns every text unchanged', async (t) => {
    const { store } = await open(t);
    const texts = { event: 'e\0f', delivery_id: '\ud800"\\', prompt: 'p\0q\ud800', replay_of: 'r' };
    const deliveries = [{ target: 'log', label: 'x\0', extra: { chat_id: 'ü\0' }, unresolved: [] }];
    const dispatch = makeDispatch('a', { ...texts, deliveries });
    await accept(store, 'a', { dispatch });
    assert.deepEqual((await find(store, 'a'))?.dispatch, dispatch);
    const [summary] = await store.read({ kind: 'list', filter: { limit: 1 } });
    assert.deepEqual([summary?.event, summary?.delivery_id, summary?.replay_of], ['e\0f', '\ud800"\\', 'r']);
  });

  it('ends a dispatch that cannot be worked on, with its deliveries, whichever process holds it', async (t) => {
    const { store } = await open(t);
    const ref = await takeNew(store, 'a');
    const targets = openDeliveries(makeDispatch('a', { deliveries: deliveriesTo('log', 'local') }), 1000);
    assert.equal(await advance(store, ref, 'delivering', 1000, { answer: 'yes', open: targets }), true);
    assert.equal((await take(store, 1000, { attempts: 1 })).attempts.length, 1);
    const change = { kind: 'give_up', ref, at: 2000, reason: 'a step is damaged' } as const;
    assert.equal(await store.write(change), true);
    assert.deepEqual((await take(store, 9000)).attempts, []);
    const { state, reason, finished_at } = await load(store, ref);
    assert.deepEqual([state, reason, finished_at], ['dead', 'a step is damaged', 2000]);
    assert.equal(await store.write(change), false, 'it has ended');
    assert.deepEqual(await audit(store), []);
  });

  for (const ended of FINAL_STATES) {
    it(`lets no change through to a dispatch that is ${ended}`, async (t) => {
      const { store } = await open(t);
      const ref = await takeNew(store, 'a');
      assert.equal(await advance(store, ref, ended, 2000, { answer: 'x' }), true);
      const before = await load(store, ref);
      const late: Partial<Advance> = { reason: 'late', answer: 'late', steps: [failed] };
      for (const to of ['pending', 'delivering', ...FINAL_STATES] as const) {
        assert.equal(
          await advance(store, ref, to, 9000, { ...late, open: openDeliveries(makeDispatch('a'), 1) }),
          false,
        );
      }
      assert.equal(await store.write(makeAttempt(ref, 0, 9000)), null);
      assert.deepEqual(await load(store, ref), before);
      assert.deepEqual(await audit(store), []);
    });
  }

  it('accepts a change only from the process that holds the dispatch', async (t) => {
    const { store } = await open(t);
    const ref = await accept(store, 'a');
    assert.equal(await advance(store, ref, 'dead', 2000, { reason: 'not taken' }), false);
    await take(store, 2000);
    assert.equal(await advance(store, ref, 'dead', 2000, { holder: 'another' }), false);
    assert.equal(await advance(store, ref, 'pending', 2000), true);
    assert.equal(await advance(store, ref, 'dead', 2000, { reason: 'given back' }), false);
    assert.equal(await advance(store, 99, 'dead', 1), false);
    assert.equal((await load(store, ref)).state, 'pending');
  });

  it('accepts an answer together with its delivery, but no end without an answer', async (t) => {
    const { store } = await open(t);
    const ref = await takeNew(store, 'a');
    assert.equal(await advance(store, ref, 'done', 2000), false);
    const step = makeStep({ kind: 'delivery', index: 0 });
    assert.equal(await advance(store, ref, 'done', 2000, { started_at: 1900, answer: 'yes', steps: [step] }), true);
    const stored = await load(store, ref);
    assert.deepEqual(
      [stored.state, stored.answer, stored.started_at, stored.answered_at, stored.finished_at, stored.steps.length],
      ['done', 'yes', 1900, 2000, 2000, 1],
    );
    assert.deepEqual(await audit(store), []);
  });

  it('retries deliveries at their time, and ends with the last one', async (t) => {
    const { store } = await open(t);
    const dispatch = makeDispatch('a', { deliveries: deliveriesTo('one', 'two', 'three') });
    const ref = await takeNew(store, 'a', { dispatch });
    // The first one was made together with the answer.
    const steps = [makeStep({ kind: 'delivery', index: 0, outcome: 'permanent', reason: 'gone' })];
    const left = openDeliveries(dispatch, 2000).slice(1);
    await advance(store, ref, 'delivering', 2000, { answer: 'x', steps, open: left });
    assert.deepEqual((await take(store, 2000)).attempts, [
      { ref, index: 1 },
      { ref, index: 2 },
    ]);
    const retry = makeAttempt(ref, 1, 2100, { outcome: 'retry', reason: 'busy', next_at: 4000 });
    assert.deepEqual(await store.write(retry), { state: 'delivering', reason: null });
    assert.equal((await load(store, ref)).reason, 'busy');
    assert.equal(await store.write(retry), null, 'it is not held any more');
    assert.deepEqual(await store.write(makeAttempt(ref, 2, 2200)), { state: 'delivering', reason: null });
    const later = await take(store, 3999);
    assert.deepEqual([later.attempts, later.next_due_at], [[], 4000]);
    assert.deepEqual((await take(store, 4000)).attempts, [{ ref, index: 1 }]);
    const end = { state: 'dead', reason: 'one: gone; two: failed' } as const;
    const last = makeAttempt(ref, 1, 4100, { outcome: 'permanent', reason: 'failed' });
    assert.deepEqual(await store.write(last), end);
    const stored = await load(store, ref);
    assert.deepEqual(
      [stored.state, stored.reason, stored.finished_at, stored.steps.length],
      ['dead', end.reason, 4100, 4],
    );
    assert.equal((await overview(store)).last_error?.reason, end.reason);
    assert.deepEqual(await audit(store), []);
  });

  it('releases a delivery that was not attempted, without a step', async (t) => {
    const { store } = await open(t);
    const dispatch = makeDispatch('a');
    const work = { kind: 'deliveries', answer: 'text', open: openDeliveries(dispatch, 1000) } as const;
    const ref = await accept(store, 'a', { work });
    const stored = await load(store, ref);
    assert.deepEqual([stored.state, stored.answer, stored.answered_at], ['delivering', 'text', 1000]);
    await take(store, 1000);
    const back = { ...makeAttempt(ref, 0, 1100, null), due_at: 1500 };
    assert.equal(await store.write({ ...back, holder: 'another' }), null);
    assert.deepEqual(await store.write(back), { state: 'delivering', reason: null });
    assert.deepEqual((await take(store, 1499)).attempts, []);
    assert.deepEqual((await take(store, 1500)).attempts, [{ ref, index: 0 }]);
    assert.deepEqual((await load(store, ref)).steps, []);
  });

  it('hands out no delivery of a dispatch that its holder delivers', async (t) => {
    const { store } = await open(t);
    const ref = await accept(store, 'a', { work: { kind: 'held', holder: HOLDER } });
    const taken = await take(store, 9000);
    assert.deepEqual([taken.runs, taken.attempts, taken.waiting, taken.next_due_at], [[], [], 0, null]);
    assert.equal((await load(store, ref)).state, 'delivering');
    assert.equal(await advance(store, ref, 'done', 2000, { steps: [makeStep({ kind: 'delivery', index: 0 })] }), true);
    assert.deepEqual([(await tally(store)).done, await audit(store)], [1, []]);
  });
}
