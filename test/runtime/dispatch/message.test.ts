/** `agent: none`: the prompt is the message, stored and retried. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DispatchBench } from '../../helpers/dispatch-bench.ts';
import { claimOf, deferred, dispatchBench, notSent, sentOk, stateOf, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

const message = (id: string, ...targets: readonly string[]) =>
  makeDispatch(id, {
    mode: 'message',
    delivery_id: 'd',
    deliveries: targets.map((target) => ({ target, extra: {}, unresolved: [] })),
  });

const accept = ({ service }: DispatchBench, id: string, delivery: string, ...targets: readonly string[]) =>
  service.accept({ ...message(id, ...targets), delivery_id: delivery }, claimOf(delivery), null);

describe('a message', () => {
  it('is accepted before it is sent, and retried until each target has it once', async () => {
    let failures = 3;
    const bench = dispatchBench({
      deliver: ({ target }) => (target === 'b' && failures-- > 0 ? notSent('retry') : sentOk()),
    });
    await bench.service.start();
    assert.deepEqual(await accept(bench, 'one', '1', 'a', 'b'), { kind: 'accepted' });
    assert.deepEqual(await accept(bench, 'two', '1', 'a', 'b'), { kind: 'duplicate' });
    await bench.clock.run(60_000);
    assert.deepEqual([stateOf(bench.store, 'one'), storedIn(bench.store, 'two')], ['done', null]);
    const sent = bench.deliveries.map(({ target, text }) => `${target} ${text}`);
    assert.deepEqual(sent.filter((one) => one.startsWith('a')).length, 1);
    assert.deepEqual([sent.length, sent[0], bench.runs.length], [5, 'a prompt of one', 0]);
    assert.deepEqual(await accept(bench, 'three', '1', 'a', 'b'), { kind: 'duplicate' });
  });

  it('has no answer, because no agent has run', async () => {
    const answers: (string | null)[] = [];
    const bench = dispatchBench({
      context: { observer: { finished: (_owner, _state, _reason, answer) => void answers.push(answer) } },
    });
    await bench.service.start();
    await accept(bench, 'one', '1', 'a');
    await settle();
    assert.deepEqual(answers, [null]);
  });

  it('waits for no run: neither for running ones nor for a full queue', async () => {
    const gate = deferred<string>();
    const bench = dispatchBench({
      agent: () => gate.promise,
      context: { limits: () => ({ max_concurrent_runs: 1, max_queued_runs: 1 }) },
    });
    await bench.service.start();
    for (const id of ['run 1', 'run 2', 'run 3']) await bench.service.accept(makeDispatch(id), claimOf(id), 1);
    assert.equal((await bench.service.accept(makeDispatch('run 4'), claimOf('run 4'), 1)).kind, 'overloaded');
    assert.equal((await accept(bench, 'one', '1', 'a')).kind, 'accepted');
    await settle();
    assert.deepEqual([stateOf(bench.store, 'one'), bench.deliveries.length], ['done', 1]);
    gate.resolve('x');
  });

  it('frees its id when it fails permanently: a redelivery by the sender continues it', async () => {
    let outcome = notSent('permanent');
    const bench = dispatchBench({ deliver: ({ target }) => (target === 'a' ? sentOk() : outcome) });
    await bench.service.start();
    await accept(bench, 'one', '1', 'a', 'b');
    await settle();
    assert.equal(stateOf(bench.store, 'one'), 'dead');
    outcome = sentOk();
    assert.deepEqual(await accept(bench, 'two', '1', 'a', 'b'), { kind: 'accepted' });
    await settle();
    assert.deepEqual([stateOf(bench.store, 'one'), storedIn(bench.store, 'two')], ['done', null]);
    assert.deepEqual(
      bench.deliveries.map(({ target }) => target),
      ['a', 'b', 'b'],
    );
  });

  it('resumes after a kill', async () => {
    const bench = dispatchBench({ deliver: () => new Promise(() => {}) });
    await bench.service.start();
    await accept(bench, 'one', '1', 'a');
    await settle();
    const next = dispatchBench({ store: bench.store, clock: bench.clock });
    assert.equal(await next.service.start(), 1);
    await settle();
    assert.deepEqual([stateOf(bench.store, 'one'), next.deliveries.length], ['done', 1]);
    assert.equal((await accept(next, 'two', '1', 'a')).kind, 'duplicate');
  });

  it('continues the row of a direct delivery after its route was changed to store its messages', async () => {
    let outcome = notSent('permanent');
    const bench = dispatchBench({ deliver: () => outcome });
    await bench.service.start();
    const direct = makeDispatch('one', { ...message('one', 'a'), mode: 'direct', delivery_id: '1' });
    assert.equal((await bench.service.deliver(direct, claimOf('1'), 10_000)).kind, 'failed');
    outcome = sentOk();
    assert.equal((await accept(bench, 'two', '1', 'a')).kind, 'accepted');
    await settle();
    assert.deepEqual([stateOf(bench.store, 'one'), storedIn(bench.store, 'two')], ['done', null]);
  });
});
