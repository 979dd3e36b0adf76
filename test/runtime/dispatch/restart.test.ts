import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import type { DispatchObserver } from '../../../runtime/dispatch/dispatcher.ts';
import type { StoreProblem } from '../../../runtime/store/contract.ts';
import { StoreInDoubt, StoreUnavailable } from '../../../runtime/store/contract.ts';
import {
  claimOf,
  count,
  deferred,
  dispatchBench,
  isDone,
  notSent,
  sentOk,
  stateOf,
  storedIn,
} from '../../helpers/dispatch-bench.ts';
import { makeAccept, makeAdvance, makeDispatch, makeJoin, makeTake, openDeliveries } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const hang = ({ signal }: AgentRequest): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

describe('restart', () => {
  it('runs pending work, and repeats running work', async () => {
    const store = createMemoryStore();
    await store.write(makeAccept('b'));
    await store.write(makeTake(1500));
    await store.write(makeAccept('a'));
    const { service, runs, lines } = dispatchBench({ store });
    assert.equal(await service.start(), 1);
    await settle();
    assert.deepEqual(
      runs.map(({ prompt }) => prompt),
      ['prompt of b', 'prompt of a'],
    );
    assert.deepEqual(
      storedIn(store, 'b')?.steps.map(({ kind, outcome }) => [kind, outcome]),
      [
        ['run', 'interrupted'],
        ['delivery', 'ok'],
      ],
    );
    assert.equal(count(store, 'done'), 2);
    assert.ok(lines.some(({ fields }) => fields.runs === 1));
  });

  it('delivers a stored answer without running the agent again', async () => {
    const store = createMemoryStore();
    const dispatch = makeDispatch('a');
    await store.write(makeAccept('a'));
    await store.write(makeTake(1500));
    const answered = { answer: 'the answer', open: openDeliveries(dispatch, 2000) };
    await store.write(makeAdvance(1, 'delivering', 2000, answered));
    await store.write(makeTake(2000));
    const { service, runs, deliveries } = dispatchBench({ store });
    assert.equal(await service.start(), 1);
    await settle();
    assert.deepEqual([runs.length, deliveries.map(({ text }) => text)], [0, ['the answer']]);
    // The earlier process may have sent it. The target gets the time of the first attempt, so that it can drop a
    // repeat.
    assert.equal(deliveries[0]?.first_attempt_at, 2000);
  });

  it('continues a retry at its time, from the piece that it had reached', async () => {
    const clock = new FakeClock();
    const store = createMemoryStore();
    const first = dispatchBench({ store, clock, deliver: () => notSent('retry', { sent: 2, retry_after_ms: 60_000 }) });
    await first.service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    await first.service.stop(0);
    const second = dispatchBench({ store, clock });
    await second.service.start();
    await clock.run(65_999);
    assert.equal(second.deliveries.length, 0);
    await clock.run(1);
    assert.deepEqual(
      second.deliveries.map(({ sent, key }) => [sent, key]),
      [[2, 'a:0']],
    );
    assert.equal(second.deliveries[0]?.first_attempt_at, storedIn(store, 'a')?.steps[0]?.started_at);
  });

  it('keeps the due time of groups, and runs overdue ones immediately', async () => {
    const clock = new FakeClock(1_000_000);
    const store = createMemoryStore();
    await store.write(makeJoin('a', 'overdue', 900_000));
    await store.write(makeJoin('b', 'waiting', 990_000));
    const { service, runs } = dispatchBench({ store, clock });
    await service.start();
    await clock.run(0);
    assert.deepEqual(
      runs.map(({ prompt }) => prompt),
      ['prompt of a'],
    );
    await clock.run(20_000);
    assert.equal(runs.length, 2);
  });

  it('returns duplicate for ids from before the restart', async () => {
    const clock = new FakeClock();
    const store = createMemoryStore();
    await dispatchBench({ store, clock }).service.accept(makeDispatch('a'), claimOf('1'), null);
    const { service } = dispatchBench({ store, clock });
    assert.equal(service.isKnownDone(claimOf('1')), false, 'not in this process');
    assert.equal(await isDone(service, claimOf('1')), true);
    assert.equal((await service.accept(makeDispatch('b'), claimOf('1'), null)).kind, 'duplicate');
  });

  it('fails a direct delivery whose sender got no response, and frees its id', async () => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const hanging = dispatchBench({ store, clock, deliver: () => new Promise(() => {}) });
    void hanging.service.deliver(makeDispatch('a', { mode: 'direct' }), claimOf('delivery-a'), 10_000);
    await settle();
    const ended: string[] = [];
    const observer: DispatchObserver = { finished: ({ id }, state) => void ended.push(`${id} ${state}`) };
    const { service, deliveries } = dispatchBench({ store, clock, context: { observer } });
    await service.start();
    await settle();
    assert.deepEqual([stateOf(store, 'a'), deliveries.length, ended], ['dead', 0, ['a dead']]);
    assert.equal(
      (await service.deliver(makeDispatch('b', { mode: 'direct' }), claimOf('delivery-a'), 10_000)).kind,
      'delivered',
    );
  });

  it('takes each once, even when new ones arrive', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 200; n++) await store.write(makeAccept(`old${n}`));
    const { service, runs } = dispatchBench({
      store,
      context: { limits: () => ({ max_concurrent_runs: 50, max_queued_runs: 9999 }) },
    });
    void service.start();
    for (let n = 0; n < 50; n++) {
      await service.accept(makeDispatch(`new${n}`), claimOf(`new${n}`), null);
      await settle(1);
    }
    await settle(100);
    assert.equal(new Set(runs.map(({ session }) => session)).size, 250);
    assert.equal(runs.length, 250);
  });

  it('begins work that another component stored immediately, when it is woken', async () => {
    const store = createMemoryStore();
    const { service, runs } = dispatchBench({ store });
    await service.start();
    await settle();
    await store.write(makeAccept('a'));
    const dispatch = makeDispatch('b', { mode: 'direct', replay_of: 'x', prompt: 'text' });
    const work = { kind: 'deliveries', answer: null, open: openDeliveries(dispatch, 1000) } as const;
    await store.write(makeAccept('b', { dispatch, work }));
    service.wake();
    await settle();
    assert.deepEqual([stateOf(store, 'a'), stateOf(store, 'b'), runs.length], ['done', 'done', 1]);
  });
});

describe('a system clock that moves back', () => {
  it('delays no retry, no group and no run', async () => {
    const outcomes = [notSent('retry')];
    const bench = dispatchBench({ deliver: () => outcomes.shift() ?? sentOk() });
    const { service, clock, store } = bench;
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    const group = { key: 'k', window_ms: 30_000, max_wait_ms: 300_000 };
    await service.coalesce(makeDispatch('g'), claimOf('2'), group, null);
    await settle();
    clock.jump(-3 * 3_600_000);
    await service.accept(makeDispatch('b'), claimOf('3'), null);
    await settle();
    assert.equal(stateOf(store, 'b'), 'done');
    await clock.run(31_000);
    assert.deepEqual(
      ['a', 'g'].map((id) => stateOf(store, id)),
      ['done', 'done'],
    );
    assert.equal(bench.lines.filter(({ fields }) => fields.back_ms !== undefined).length, 1);
  });

  it('is noticed within a minute when nothing else happens', async () => {
    const outcomes = [notSent('retry', { retry_after_ms: 600_000 })];
    const { service, clock, store } = dispatchBench({ deliver: () => outcomes.shift() ?? sentOk() });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    clock.jump(-24 * 3_600_000);
    await clock.run(720_000);
    assert.equal(stateOf(store, 'a'), 'done');
  });

  it('delays no group, even if no gateway ran', async () => {
    const clock = new FakeClock(1_000_000);
    const store = createMemoryStore();
    await store.write(makeJoin('a', 'k', 1_000_000));
    clock.jump(-900_000);
    const { service, runs } = dispatchBench({ store, clock });
    await service.start();
    await clock.run(30_000);
    assert.equal(runs.length, 1);
  });
});

describe('a store that fails', () => {
  it('rejects events until it accepts changes again', async () => {
    const store = createMemoryStore();
    const { write } = store;
    store.write = () => Promise.reject(new StoreUnavailable('disk full'));
    const { service, clock, runs } = dispatchBench({ store });
    const refused = await service.accept(makeDispatch('a'), claimOf('a'), null);
    assert.deepEqual(refused, { kind: 'overloaded', reason: 'store_unavailable', retry_after_seconds: 10 });
    await clock.run(10_000);
    store.write = write;
    assert.equal((await service.accept(makeDispatch('b'), claimOf('b'), null)).kind, 'accepted');
    await settle();
    assert.equal(runs.length, 1);
  });

  it('resumes pending work automatically, without another event', async () => {
    const store = createMemoryStore();
    await store.write(makeAccept('a'));
    const { write } = store;
    store.write = () => Promise.reject(new StoreUnavailable('disk full'));
    const { service, clock, runs } = dispatchBench({ store });
    void service.start();
    await clock.run(10_000);
    store.write = write;
    await clock.run(1000);
    assert.equal(runs.length, 1);
  });

  it('does taken work whose result was lost, and repeats no running work', async () => {
    const store = createMemoryStore();
    const { write } = store;
    let isLost = false;
    store.write = async (mutation) => {
      const result = await write(mutation);
      if (isLost && mutation.kind === 'take_work') throw new StoreInDoubt('a store thread ended');
      return result;
    };
    const slow = deferred<string>();
    const sent = deferred<DeliveryOutcome>();
    const { service, clock, runs, deliveries } = dispatchBench({
      store,
      agent: ({ prompt }) => (prompt === 'slow' ? slow.promise : Promise.resolve('answer')),
      deliver: ({ text }) => (text === 'direct' ? sent.promise : sentOk()),
    });
    await service.accept(makeDispatch('slow', { prompt: 'slow' }), claimOf('slow'), null);
    const direct = service.deliver(makeDispatch('direct', { prompt: 'direct' }), claimOf('direct'), 10_000);
    await settle();
    const answered = makeDispatch('answered');
    const work = { kind: 'deliveries', answer: 'stored before', open: openDeliveries(answered, 1000) } as const;
    await write(makeAccept('answered', { dispatch: answered, work }));
    isLost = true;
    await service.accept(makeDispatch('lost', { prompt: 'lost' }), claimOf('lost'), null);
    await settle();
    assert.deepEqual([stateOf(store, 'lost'), runs.length], ['running', 1]);
    isLost = false;
    await clock.run(1000);
    slow.resolve('answer');
    sent.resolve(sentOk());
    assert.equal((await direct).kind, 'delivered');
    await settle();
    assert.equal(count(store, 'done'), 4);
    assert.deepEqual(
      runs.map(({ prompt }) => prompt),
      ['slow', 'lost'],
    );
    assert.equal(deliveries.length, 4);
    assert.equal(storedIn(store, 'lost')?.steps.length, 1, 'no interrupted run');
  });

  it('runs again later if a dispatch could not be read', async () => {
    const store = createMemoryStore();
    await store.write(makeAccept('a'));
    const { read } = store;
    store.read = () => Promise.reject(new StoreUnavailable('no connection'));
    const { service, clock, runs } = dispatchBench({ store });
    await service.start();
    await clock.run(6000);
    assert.deepEqual([runs.length, stateOf(store, 'a')], [0, 'pending']);
    store.read = read;
    await clock.run(6000);
    assert.deepEqual([runs.length, stateOf(store, 'a'), storedIn(store, 'a')?.steps.length], [1, 'done', 1]);
  });

  it('ends work that can never be stored, with the reason, and stays free for others', async () => {
    const store = createMemoryStore();
    const { write } = store;
    store.write = (mutation) =>
      mutation.kind === 'advance' && mutation.answer?.includes('poison') === true
        ? Promise.reject(new RangeError('string too long'))
        : write(mutation);
    const { service, lines, runs } = dispatchBench({ store, agent: async ({ prompt }) => prompt });
    for (const id of ['poison', 'b']) {
      await service.accept(makeDispatch(id, { prompt: id }), claimOf(id), 1);
    }
    await settle(30);
    assert.deepEqual([stateOf(store, 'poison'), stateOf(store, 'b'), runs.length], ['dead', 'done', 2]);
    assert.notEqual(storedIn(store, 'poison')?.reason, null);
    assert.ok(lines.some(({ fields }) => fields.change === 'advance'));
  });
});

describe('stop', () => {
  it('rejects new work immediately, and lets running work finish', async () => {
    let finish: (text: string) => void = () => {};
    const { service, store } = dispatchBench({
      agent: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    const stopped = service.stop(30_000);
    assert.equal((await service.accept(makeDispatch('b'), claimOf('2'), null)).kind, 'shutting_down');
    assert.equal((await service.deliver(makeDispatch('c'), claimOf('3'), 1)).kind, 'shutting_down');
    finish('done');
    assert.deepEqual(await stopped, { drained: true, abandoned: 0 });
    assert.equal(stateOf(store, 'a'), 'done');
  });

  it('cuts off slow work, and leaves it and pending work for the next start', async () => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const limits = () => ({ max_concurrent_runs: 1, max_queued_runs: 10 });
    const first = dispatchBench({ store, clock, agent: hang, context: { limits } });
    for (const id of ['a', 'b']) await first.service.accept(makeDispatch(id), claimOf(id), null);
    const stopped = first.service.stop(30_000);
    await clock.run(30_000);
    assert.deepEqual(await stopped, { drained: false, abandoned: 1 });
    assert.deepEqual(
      ['a', 'b'].map((id) => stateOf(store, id)),
      ['pending', 'pending'],
    );
    assert.equal(storedIn(store, 'a')?.steps[0]?.outcome, 'interrupted');
    const second = dispatchBench({ store, clock, context: { limits } });
    await second.service.start();
    await settle();
    assert.deepEqual(
      ['a', 'b'].map((id) => stateOf(store, id)),
      ['done', 'done'],
    );
  });

  it('does not wait for later retries', async () => {
    const { service, store } = dispatchBench({ deliver: () => notSent('retry') });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.deepEqual(await service.stop(30_000), { drained: true, abandoned: 0 });
    assert.equal(stateOf(store, 'a'), 'delivering');
  });

  it('waits for an unavailable store only as long as an answer is to be stored', async () => {
    const problem: StoreProblem = { kind: 'replaced', message: 'the file was removed', since: 0 };
    const broken = { write: () => Promise.reject(new StoreUnavailable(problem.message)), problem: () => problem };
    const idle = dispatchBench({ store: Object.assign(createMemoryStore(), broken) });
    const stopped = idle.service.stop(30_000);
    await idle.clock.run(1000);
    assert.deepEqual(await Promise.race([stopped, settle()]), { drained: false, abandoned: 0 });

    const whole = createMemoryStore();
    const store = { ...whole };
    let answer: (text: string) => void = () => {};
    const busy = dispatchBench({ store, agent: () => new Promise((resolve) => (answer = resolve)) });
    await busy.service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    Object.assign(store, broken);
    answer('done');
    const ended = busy.service.stop(30_000);
    await busy.clock.run(10_000);
    Object.assign(store, whole);
    await busy.clock.run(10_000);
    assert.deepEqual(await Promise.race([ended, settle()]), { drained: true, abandoned: 0 });
    assert.equal(stateOf(whole, 'a'), 'done');
  });

  it('repeats after the next start what it cut off while sending', async () => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const first = dispatchBench({
      store,
      clock,
      deliver: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(notSent('ambiguous')))),
    });
    await first.service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    const stopped = first.service.stop(1000);
    await clock.run(1000);
    assert.deepEqual(await stopped, { drained: false, abandoned: 1 });
    assert.equal(stateOf(store, 'a'), 'delivering');
    const second = dispatchBench({ store, clock });
    await second.service.start();
    await settle();
    assert.equal(stateOf(store, 'a'), 'done');
  });
});
