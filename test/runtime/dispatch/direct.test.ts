import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
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

  it('answers the second of two simultaneous requests only when the first has ended: duplicate of a success', async () => {
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

  it('lets the second of two simultaneous requests try when the first has failed', async () => {
    const outcomes = [notSent('retry'), sentOk()];
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
    assert.equal(storedIn(bench.store, 'a')?.reason, 'messenger_a: no answer within 10 s');
    assert.equal(await isDone(bench.service, claimOf('1')), false);
  });

  it('makes one attempt per target and fails when one fails', async () => {
    const bench = dispatchBench({ deliver: ({ target }) => (target === 'email' ? notSent('retry') : sentOk()) });
    const result = await bench.service.deliver(direct('a', ['messenger_a', 'email']), claimOf('1'), 10_000);
    assert.deepEqual(result, {
      kind: 'failed',
      results: [
        { target: 'messenger_a', ok: true },
        { target: 'email', ok: false },
      ],
    });
    await bench.clock.run(3_600_000);
    assert.equal(bench.deliveries.length, 2);
  });

  it('waits while another gateway of a shared store delivers the id, and refuses when that takes too long', async () => {
    const store = createMemoryStore();
    const write = store.write.bind(store);
    let refusals = 3;
    store.write = (mutation) => {
      if (mutation.kind !== 'accept') return write(mutation);
      assert.equal(mutation.claiming, 'alone');
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

  it('answers delivered for what was delivered, even if the store fails meanwhile', async () => {
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
});
