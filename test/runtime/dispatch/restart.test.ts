import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import { createMemoryStore } from '../../../runtime/store/memory-store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { claimOf, deferred, dispatchBench, notSent } from '../../helpers/dispatch-bench.ts';
import { makeAccept, makeCoalesce, makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';

const hang = ({ signal }: AgentRequest): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

describe('restart', () => {
  it('runs what was pending, and again what was running', async () => {
    const store = createMemoryStore();
    await store.write(makeAccept('a'));
    await store.write(makeAccept('b'));
    await store.write({ kind: 'advance', ref: 2, to: 'running', at: 1500 });
    const { service, runs } = dispatchBench({ store });
    assert.equal(await service.start(), 2);
    await settle();
    assert.deepEqual(
      runs.map(({ prompt }) => prompt),
      ['prompt of a', 'prompt of b'],
    );
    assert.deepEqual(
      store.find('b')?.steps.map(({ kind, outcome }) => [kind, outcome]),
      [
        ['run', 'interrupted'],
        ['delivery', 'ok'],
      ],
    );
    assert.equal(store.tallies()[0]?.done, 2);
  });

  it('delivers a stored answer without running the agent again', async () => {
    const store = createMemoryStore();
    await store.write(makeAccept('a'));
    await store.write({ kind: 'advance', ref: 1, to: 'running', at: 1500 });
    await store.write({ kind: 'advance', ref: 1, to: 'delivering', at: 2000, answer: 'the answer' });
    const { service, runs, deliveries } = dispatchBench({ store });
    await service.start();
    await settle();
    assert.deepEqual([runs.length, deliveries.map(({ text }) => text)], [0, ['the answer']]);
  });

  it('goes on with a retry at its time, from the piece it had reached', async () => {
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
    assert.equal(second.deliveries[0]?.first_attempt_at, store.find('a')?.steps[0]?.started_at);
  });

  it('keeps the due time of groups, and releases overdue ones at once', async () => {
    const clock = new FakeClock(1_000_000);
    const store = createMemoryStore();
    await store.write(makeCoalesce('a', 'overdue', 900_000));
    await store.write(makeCoalesce('b', 'waiting', 990_000));
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

  it('waits no longer than a group may wait after the clock was set back', async () => {
    const clock = new FakeClock(1_000_000);
    const store = createMemoryStore();
    await store.write(makeCoalesce('a', 'k', 1_000_000));
    clock.jump(-900_000);
    const { service, runs } = dispatchBench({ store, clock });
    await service.start();
    await clock.run(300_000);
    assert.equal(runs.length, 1);
  });

  it('answers duplicate for ids of before', async () => {
    const clock = new FakeClock();
    const store = createMemoryStore();
    await dispatchBench({ store, clock }).service.accept(makeDispatch('a'), claimOf('1'), null);
    const { service } = dispatchBench({ store, clock });
    assert.equal(service.isDone(claimOf('1'), true), true);
    assert.equal((await service.accept(makeDispatch('b'), claimOf('1'), null)).kind, 'duplicate');
  });

  it('gives up a direct delivery whose sender got no answer, and frees its id', async () => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const hanging = dispatchBench({ store, clock, deliver: () => new Promise(() => {}) });
    void hanging.service.deliver(makeDispatch('a', { mode: 'direct' }), claimOf('delivery-a'), 10_000);
    await settle();
    const { service, deliveries } = dispatchBench({ store, clock });
    await service.start();
    await settle();
    assert.deepEqual([store.find('a')?.state, deliveries.length], ['dead', 0]);
    assert.equal(
      (await service.deliver(makeDispatch('b', { mode: 'direct' }), claimOf('delivery-a'), 10_000)).kind,
      'delivered',
    );
  });

  it('takes each up once, also when new ones come in meanwhile', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 1000; n++) await store.write(makeAccept(`old${n}`));
    const { service, runs } = dispatchBench({
      store,
      context: { limits: () => ({ max_concurrent_runs: 50, max_queued_runs: 9999 }) },
    });
    const started = service.start();
    for (let n = 0; n < 50; n++) {
      await service.accept(makeDispatch(`new${n}`), claimOf(`new${n}`), null);
      await settle(1);
    }
    assert.equal(await started, 1000);
    await settle(50);
    assert.equal(new Set(runs.map(({ session }) => session)).size, 1050);
    assert.equal(runs.length, 1050);
  });

  it('takes up what another process has put in, within a second or so', async () => {
    const store = createMemoryStore();
    const { service, clock, runs } = dispatchBench({ store });
    await service.start();
    await store.write(makeAccept('a', { inbox: true }));
    await clock.run(1000);
    assert.deepEqual([runs.length, store.inbox(5)], [1, []]);
    const answered = makeDispatch('b', { mode: 'direct', replay_of: 'x', prompt: 'text' });
    await store.write(makeAccept('b', { dispatch: answered, state: 'delivering', inbox: true }));
    await clock.run(1000);
    assert.deepEqual([store.find('b')?.state, runs.length], ['done', 1]);
  });

  it('takes up what was put in while it was not running, once', async () => {
    const store = createMemoryStore();
    await store.write(makeAccept('a', { inbox: true }));
    const { service, clock, runs } = dispatchBench({ store });
    await service.start();
    await clock.run(3000);
    assert.deepEqual([runs.length, store.inbox(5)], [1, []]);
  });
});

describe('sweep', () => {
  it('takes up what is stored but known to nobody, after a while, and nothing that is being worked on', async () => {
    const store = createMemoryStore();
    const gate = deferred<string>();
    const bench = dispatchBench({
      store,
      agent: ({ prompt }) => (prompt.endsWith('slow') ? gate.promise : Promise.resolve('x')),
    });
    await bench.service.start();
    await bench.service.accept(makeDispatch('slow'), claimOf('1'), null);
    void bench.service.deliver(makeDispatch('b', { mode: 'direct' }), claimOf('2'), 1);
    // Stored by a write whose answer never came.
    await store.write(makeAccept('lost'));
    await bench.clock.run(300_000);
    assert.equal(store.find('lost')?.state, 'pending', 'its answer might still come');
    await bench.clock.run(300_000);
    assert.deepEqual([store.find('lost')?.state, bench.runs.length], ['done', 2]);
    assert.ok(bench.lines.some(({ message }) => message.startsWith('taken up again')));
    gate.resolve('answer');
    await settle();
    assert.deepEqual(
      ['slow', 'b'].map((id) => store.find(id)?.state),
      ['done', 'done'],
    );
  });

  it('says once that the store is down, and once that it works again', async () => {
    const store = createMemoryStore();
    const write = store.write.bind(store);
    store.write = () => Promise.reject(new StoreUnavailable('disk full'));
    const { service, lines } = dispatchBench({ store });
    for (const id of ['a', 'b', 'c']) await service.accept(makeDispatch(id), claimOf(id), null);
    store.write = write;
    for (const id of ['d', 'e']) await service.accept(makeDispatch(id), claimOf(id), null);
    const messages = lines.map(({ message }) => message).filter((message) => message.includes('store'));
    assert.deepEqual(messages, ['the store cannot take anything: events are refused', 'the store works again']);
  });
});

describe('stop', () => {
  it('refuses new work at once, and lets running work finish', async () => {
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
    assert.equal(store.find('a')?.state, 'done');
  });

  it('cuts off what takes too long, and leaves it and what waits for the next start', async () => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const limits = () => ({ max_concurrent_runs: 1, max_queued_runs: 10 });
    const first = dispatchBench({ store, clock, agent: hang, context: { limits } });
    for (const id of ['a', 'b']) await first.service.accept(makeDispatch(id), claimOf(id), null);
    const stopped = first.service.stop(30_000);
    await clock.run(30_000);
    assert.deepEqual(await stopped, { drained: false, abandoned: 1 });
    assert.deepEqual(
      ['a', 'b'].map((id) => store.find(id)?.state),
      ['pending', 'pending'],
    );
    assert.equal(store.find('a')?.steps[0]?.outcome, 'interrupted');
    const second = dispatchBench({ store, clock, context: { limits } });
    await second.service.start();
    await settle();
    assert.deepEqual(
      ['a', 'b'].map((id) => store.find(id)?.state),
      ['done', 'done'],
    );
  });

  it('does not wait for retries that lie ahead', async () => {
    const { service, store } = dispatchBench({ deliver: () => notSent('retry') });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.deepEqual(await service.stop(30_000), { drained: true, abandoned: 0 });
    assert.equal(store.find('a')?.state, 'delivering');
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
    assert.equal(store.find('a')?.state, 'delivering');
    const second = dispatchBench({ store, clock });
    await second.service.start();
    await settle();
    assert.equal(store.find('a')?.state, 'done');
  });
});
