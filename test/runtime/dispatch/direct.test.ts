import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { DispatchBench } from '../../helpers/dispatch-bench.ts';
import {
  claimOf,
  deferred,
  dispatchBench,
  isDone,
  notSent,
  sentOk,
  stateOf,
  storedIn,
} from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const direct = (id: string, targets = ['messenger_a']) =>
  makeDispatch(id, {
    mode: 'direct',
    deliveries: targets.map((target) => ({ target, extra: { chat_id: '7' }, unresolved: [] })),
  });

const send = ({ service }: DispatchBench, id: string, delivery = '1') =>
  service.deliver(direct(id), claimOf(delivery), 10_000);

describe('direct delivery', () => {
  it('delivers the prompt itself, without an agent, and records it', async () => {
    const bench = dispatchBench();
    const result = await send(bench, 'a');
    assert.deepEqual(result, { kind: 'delivered', results: [{ target: 'messenger_a', ok: true }] });
    assert.deepEqual(
      [bench.runs.length, bench.deliveries[0]?.text, bench.deliveries[0]?.extra],
      [0, 'prompt of a', { chat_id: '7' }],
    );
    assert.equal(stateOf(bench.store, 'a'), 'done');
    assert.equal((await send(bench, 'b')).kind, 'duplicate');
  });

  it('releases the id when it fails, so that the retry is delivered', async () => {
    const outcomes = [notSent('permanent'), sentOk()];
    const bench = dispatchBench({ deliver: () => outcomes.shift() ?? sentOk() });
    const failed = await send(bench, 'a');
    assert.deepEqual(failed, { kind: 'failed', results: [{ target: 'messenger_a', ok: false }] });
    assert.deepEqual(
      [stateOf(bench.store, 'a'), storedIn(bench.store, 'a')?.reason],
      ['dead', 'messenger_a: permanent reason'],
    );
    assert.equal(await isDone(bench.service, claimOf('1')), false);
    assert.equal((await send(bench, 'b')).kind, 'delivered');
    assert.equal((await send(bench, 'c')).kind, 'duplicate');
  });

  it('answers the second of two concurrent requests only after the first has ended: duplicate of a success', async () => {
    const gate = deferred<DeliveryOutcome>();
    const bench = dispatchBench({ deliver: () => gate.promise });
    const both = [send(bench, 'a'), send(bench, 'b'), send(bench, 'c')];
    await settle();
    assert.equal(bench.deliveries.length, 1);
    assert.equal(await isDone(bench.service, claimOf('1')), false);
    gate.resolve(sentOk());
    assert.deepEqual(
      (await Promise.all(both)).map(({ kind }) => kind),
      ['delivered', 'duplicate', 'duplicate'],
    );
    assert.equal(await isDone(bench.service, claimOf('1')), true);
  });

  it('does not let an event wait for one of another profile with its route and id', async () => {
    const gate = deferred<DeliveryOutcome>();
    const bench = dispatchBench({ deliver: ({ profile }) => (profile === 'red' ? sentOk() : gate.promise) });
    const first = send(bench, 'a');
    const red = { ...direct('b'), profile: 'red' };
    const other = await bench.service.deliver(red, claimOf('1', { profile: 'red' }), 10_000);
    assert.equal(other.kind, 'delivered');
    gate.resolve(sentOk());
    assert.equal((await first).kind, 'delivered');
  });

  it('lets the second of two concurrent requests try when the first has failed', async () => {
    const outcomes = [notSent('permanent'), sentOk()];
    const bench = dispatchBench({ deliver: () => outcomes.shift() ?? sentOk() });
    const both = await Promise.all([send(bench, 'a'), send(bench, 'b'), send(bench, 'c')]);
    assert.deepEqual(
      both.map(({ kind }) => kind),
      ['failed', 'delivered', 'duplicate'],
    );
    assert.equal(bench.deliveries.length, 2);
  });

  it('answers in time although the target hangs', async () => {
    const bench = dispatchBench({ deliver: () => new Promise(() => {}) });
    const result = send(bench, 'a');
    await bench.clock.run(10_000);
    assert.equal((await result).kind, 'failed');
    assert.equal(bench.deliveries[0]?.signal.aborted, true);
    assert.match(storedIn(bench.store, 'a')?.reason ?? '', /^messenger_a: .*\b10 s$/);
    assert.equal(await isDone(bench.service, claimOf('1')), false);
  });

  it('tries twice when that is safe, and fails when one target fails', async () => {
    const bench = dispatchBench({ deliver: ({ target }) => (target === 'email' ? notSent('retry') : sentOk()) });
    const result = bench.service.deliver(direct('a', ['messenger_a', 'email']), claimOf('1'), 10_000);
    await bench.clock.run(1000);
    assert.deepEqual(await result, {
      kind: 'failed',
      results: [
        { target: 'messenger_a', ok: true },
        { target: 'email', ok: false },
      ],
    });
    await bench.clock.run(3_600_000);
    assert.deepEqual(
      bench.deliveries.map(({ target }) => target),
      ['messenger_a', 'email', 'email'],
    );
  });

  const seconds: readonly (readonly [outcome: DeliveryOutcome, timeoutMs: number, attempts: number])[] = [
    [notSent('retry'), 10_000, 2],
    [notSent('permanent'), 10_000, 1],
    [notSent('ambiguous'), 10_000, 2],
    [notSent('retry', { retry_after_ms: 4000 }), 10_000, 2],
    [notSent('retry', { retry_after_ms: 20_000 }), 10_000, 1],
    [notSent('retry'), 900, 1],
  ];
  for (const [outcome, timeoutMs, attempts] of seconds) {
    it(`makes ${attempts} of at most two attempts within ${timeoutMs} ms after ${JSON.stringify(outcome)}`, async () => {
      const bench = dispatchBench({ deliver: () => outcome });
      const result = bench.service.deliver(direct('a'), claimOf('1'), timeoutMs);
      await bench.clock.run(timeoutMs);
      assert.equal((await result).kind, 'failed');
      assert.equal(bench.deliveries.length, attempts);
    });
  }

  it('waits while another gateway of a shared store delivers the id, and rejects when that takes too long', async () => {
    const store = createMemoryStore();
    const write = store.write.bind(store);
    let refusals = 3;
    store.write = (mutation) => {
      if (mutation.kind !== 'accept') return write(mutation);
      assert.equal(mutation.claiming, 'later');
      return refusals-- > 0 ? Promise.resolve({ kind: 'held' } as never) : write({ ...mutation, claiming: 'later' });
    };
    const bench = dispatchBench({ store: Object.assign(store, { shared: {} }) });
    const delivered = send(bench, 'a');
    await bench.clock.run(1000);
    assert.equal((await delivered).kind, 'delivered');
    assert.equal(bench.deliveries.length, 1);
    refusals = Number.POSITIVE_INFINITY;
    const refused = send(bench, 'b', '2');
    await bench.clock.run(11_000);
    assert.equal((await refused).kind, 'overloaded');
    assert.equal(bench.deliveries.length, 1);
  });

  it('sends nothing that it could not record first', async () => {
    const store = createMemoryStore();
    store.write = () => Promise.reject(new StoreUnavailable('disk full'));
    const bench = dispatchBench({ store });
    assert.equal((await send(bench, 'a')).kind, 'overloaded');
    assert.equal(bench.deliveries.length, 0);
  });

  it('returns delivered for a delivered message, even if the store fails afterwards', async () => {
    const store = createMemoryStore();
    const write = store.write.bind(store);
    let writes = 0;
    store.write = (mutation) => (writes++ === 0 ? write(mutation) : Promise.reject(new StoreUnavailable('disk full')));
    const bench = dispatchBench({ store });
    const result = send(bench, 'a');
    await bench.clock.run(2000);
    assert.equal((await result).kind, 'delivered');
    assert.equal((await send(bench, 'b')).kind, 'duplicate');
    store.write = write;
    assert.equal((await send(bench, 'c')).kind, 'duplicate');
    await bench.clock.run(5000);
    assert.equal(stateOf(store, 'a'), 'done');
  });

  it('sends to each of two targets once, however its sender retries for three days', async () => {
    let isDown = true;
    const bench = dispatchBench({ deliver: ({ target }) => (target === 'b' && isDown ? notSent('retry') : sentOk()) });
    const attempts: string[] = [];
    // As Stripe does: after minutes, hours, and then twice a day.
    for (const minutes of [0, 5, 30, 120, 300, 600, 1200, 1920, 2640, 3360, 4080, 4320]) {
      const at = minutes * 60_000;
      await bench.clock.run(Math.max(0, at - bench.clock.monotonic()));
      isDown = minutes < 4080;
      const id = `attempt ${minutes}`;
      const result = bench.service.deliver(direct(id, ['a', 'b']), claimOf('evt_1', { ttl_ms: 86_400_000 }), 10_000);
      await bench.clock.run(2000);
      attempts.push((await result).kind);
    }
    assert.deepEqual(attempts, [...Array(10).fill('failed'), 'delivered', 'duplicate']);
    const sent = bench.deliveries.map(({ target }) => target);
    assert.deepEqual([sent.filter((to) => to === 'a').length, sent.filter((to) => to === 'b').length], [1, 21]);
    const rows = bench.store.look({ kind: 'list', filter: { limit: 100 } });
    assert.deepEqual(
      rows.map(({ id, state, delivery_id }) => [id, state, delivery_id]),
      [['attempt 0', 'done', 'delivery-attempt 4080']],
    );
    assert.equal(new Set(bench.deliveries.map(({ key }) => key)).size, 2);
  });

  it('is a duplicate during a replay, and continues when the replay fails permanently', async () => {
    let outcome: DeliveryOutcome = notSent('permanent');
    const bench = dispatchBench({ deliver: ({ target }) => (target === 'a' ? sentOk() : outcome) });
    const deliver = (id: string) => bench.service.deliver(direct(id, ['a', 'b']), claimOf('1'), 10_000);
    await bench.service.start();
    assert.equal((await deliver('one')).kind, 'failed');
    const replay = async (again: boolean): Promise<void> => {
      const key = { profile: 'default', route: 'alerts', delivery_id: 'delivery-one' };
      await bench.store.write({
        kind: 'resend',
        ref: 1,
        key: { ...key, delivery_id: '1' },
        again,
        now: bench.clock.now(),
      });
      bench.service.wake();
      await settle();
    };
    outcome = notSent('retry');
    await replay(false);
    assert.equal(bench.deliveries.length, 3);
    assert.equal((await deliver('two')).kind, 'duplicate');
    assert.equal(await isDone(bench.service, claimOf('1')), true);
    outcome = sentOk();
    await bench.clock.run(5000);
    assert.deepEqual([stateOf(bench.store, 'one'), (await deliver('three')).kind], ['done', 'duplicate']);
    const keys = bench.deliveries.map(({ key }) => key);
    assert.deepEqual(keys, ['one:0', 'one:1', 'one:1', 'one:1']);
    // Sent on purpose: targets that drop a repeat by its key must not drop this one.
    await replay(true);
    assert.deepEqual(
      bench.deliveries.slice(4).map(({ key, sent, first_attempt_at }) => [key, sent, first_attempt_at]),
      [
        ['one:0:1', 0, null],
        ['one:1:1', 0, null],
      ],
    );
  });

  it('records the success of one target while another hangs, so that a crash does not repeat it', async () => {
    const bench = dispatchBench({
      deliver: ({ target }) => (target === 'a' ? sentOk() : new Promise<DeliveryOutcome>(() => {})),
    });
    void bench.service.deliver(direct('one', ['a', 'b']), claimOf('1'), 10_000);
    await settle();
    assert.deepEqual(
      storedIn(bench.store, 'one')?.steps.map(({ index, outcome }) => [index, outcome]),
      [[0, 'ok']],
    );
    // The process is killed, and the next one gets the sender's retry.
    const next = dispatchBench({ store: bench.store, clock: bench.clock });
    assert.equal((await next.service.deliver(direct('early', ['a', 'b']), claimOf('2'), 10_000)).kind, 'delivered');
    await next.service.start();
    assert.equal(stateOf(bench.store, 'one'), 'dead');
    assert.equal((await next.service.deliver(direct('two', ['a', 'b']), claimOf('1'), 10_000)).kind, 'delivered');
    assert.deepEqual(
      next.deliveries.slice(2).map(({ key, first_attempt_at }) => [key, first_attempt_at !== null]),
      [['one:1', true]],
    );
    assert.equal(stateOf(bench.store, 'one'), 'done');
  });

  it('waits for the recovery of a row whose process was killed, and then continues', async () => {
    const store = createMemoryStore();
    const bench = dispatchBench({ store, deliver: () => new Promise(() => {}) });
    void send(bench, 'one');
    await settle();
    const next = dispatchBench({ store, clock: bench.clock });
    const retried = send(next, 'two');
    await settle();
    assert.equal(next.deliveries.length, 0);
    await next.service.start();
    await next.clock.run(300);
    assert.equal((await retried).kind, 'delivered');
    assert.deepEqual([stateOf(store, 'one'), storedIn(store, 'two')], ['done', null]);
  });

  it("sends the content of the sender's latest attempt: a corrected address is used", async () => {
    const bench = dispatchBench({ deliver: ({ extra }) => (extra.chat_id === '7' ? notSent('permanent') : sentOk()) });
    await send(bench, 'a');
    const mended = { ...direct('b'), deliveries: [{ target: 'messenger_a', extra: { chat_id: '8' }, unresolved: [] }] };
    assert.equal((await bench.service.deliver(mended, claimOf('1'), 10_000)).kind, 'delivered');
    assert.deepEqual(
      [storedIn(bench.store, 'a')?.dispatch.prompt, stateOf(bench.store, 'a'), storedIn(bench.store, 'b')],
      ['prompt of b', 'done', null],
    );
  });

  it("gives each event without a sender's id its own row", async () => {
    const bench = dispatchBench({ deliver: () => notSent('permanent') });
    const generated = claimOf('1', { generated: true });
    await bench.service.deliver(direct('a'), generated, 10_000);
    await bench.service.deliver(direct('b'), generated, 10_000);
    assert.deepEqual([stateOf(bench.store, 'a'), stateOf(bench.store, 'b')], ['dead', 'dead']);
  });

  it('lets a repeat wait for a failure that cannot be stored yet, and then continue its row', async () => {
    const store = createMemoryStore();
    const write = store.write.bind(store);
    let isFull = false;
    store.write = (mutation) => (isFull ? Promise.reject(new StoreUnavailable('disk full')) : write(mutation));
    const outcomes = [notSent('permanent')];
    const bench = dispatchBench({
      store,
      deliver: () => {
        const outcome = outcomes.shift();
        isFull = outcome !== undefined;
        return outcome ?? sentOk();
      },
    });
    const first = send(bench, 'a');
    await bench.clock.run(2000);
    assert.equal((await first).kind, 'failed');
    const repeat = send(bench, 'b');
    await bench.clock.run(1000);
    isFull = false;
    await bench.clock.run(5000);
    assert.equal((await repeat).kind, 'delivered');
    assert.deepEqual([stateOf(store, 'a'), storedIn(store, 'b')], ['done', null]);
  });
});
