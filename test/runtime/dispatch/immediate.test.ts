import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Mutation } from '../../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { BenchOptions } from '../../helpers/dispatch-bench.ts';
import { claimOf, dispatchBench, notSent, sentOk, stateOf, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

/** A dispatcher whose `log` target is within the process. */
function immediateBench({ deliver = () => sentOk(), store = createMemoryStore() }: Partial<BenchOptions> = {}) {
  const written: Mutation[] = [];
  const write = store.write.bind(store);
  store.write = (mutation) => {
    if (mutation.kind !== 'take_work' && mutation.kind !== 'recover') written.push(mutation);
    return write(mutation);
  };
  const requests: string[] = [];
  const deliverer = {
    isEnabled: () => true,
    refusal: () => null,
    isImmediate: (_profile: string, target: string) => target === 'log',
    deliver: async (request: Parameters<typeof deliver>[0]) => {
      requests.push(request.target);
      return deliver(request);
    },
  };
  return { ...dispatchBench({ store, context: { deliverer } }), written, requests };
}

describe('a delivery within the process', () => {
  it('is stored right before work is taken, so that one commit ends a run and begins the next turn', async () => {
    const store = createMemoryStore();
    const kinds: string[] = [];
    const shared: (string | undefined)[] = [];
    const write = store.write.bind(store);
    store.write = (mutation) => {
      kinds.push(mutation.kind);
      // As long as a commit waits for others.
      if (mutation.kind === 'advance') queueMicrotask(() => queueMicrotask(() => shared.push(kinds.at(-1))));
      return write(mutation);
    };
    const { service } = immediateBench({ store });
    for (const id of ['a', 'b'])
      await service.accept(makeDispatch(id, { session: 's:k', session_key: 'k' }), claimOf(id), null);
    await settle();
    assert.deepEqual(shared, ['take_work', 'take_work']);
    assert.equal(stateOf(store, 'b'), 'done');
  });

  it('is stored together with the answer it delivers', async () => {
    const { service, store, written } = immediateBench();
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    const stored = storedIn(store, 'a');
    assert.deepEqual([stored?.state, stored?.answer, stored?.reason], ['done', 'answer to prompt of a', null]);
    assert.deepEqual(
      stored?.steps.map(({ kind, outcome, index }) => [kind, outcome, index]),
      [['delivery', 'ok', 0]],
    );
    assert.ok(stored?.started_at !== null && stored?.answered_at !== null);
    assert.deepEqual(
      written.map((mutation) => (mutation.kind === 'advance' ? mutation.to : mutation.kind)),
      ['accept', 'done'],
    );
  });

  it('is made once, however long the store takes to record it', async () => {
    const store = createMemoryStore();
    const write = store.write.bind(store);
    let refusals = 3;
    store.write = (mutation) => {
      if (mutation.kind === 'advance' && refusals-- > 0) return Promise.reject(new StoreUnavailable('disk full'));
      return write(mutation);
    };
    const { service, clock, requests } = immediateBench({ store });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await clock.run(60_000);
    assert.deepEqual([stateOf(store, 'a'), requests], ['done', ['log']]);
  });

  it('that fails ends the dispatch with the reason', async () => {
    const { service, store, lines } = immediateBench({ deliver: () => notSent('permanent') });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    const stored = storedIn(store, 'a');
    assert.deepEqual([stored?.state, stored?.reason], ['dead', 'log: permanent reason']);
    assert.equal(stored?.answer, 'answer to prompt of a');
    assert.ok(lines.some(({ level, fields }) => level === 'error' && fields.target === 'log'));
  });

  it('continues like any other when a swap has replaced the target with a slower one', async () => {
    const outcomes = [notSent('retry'), sentOk()];
    const { service, store, clock, runs, requests } = immediateBench({ deliver: () => outcomes.shift() ?? sentOk() });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    assert.equal(stateOf(store, 'a'), 'delivering');
    await clock.run(10_000);
    assert.deepEqual([stateOf(store, 'a'), requests.length, runs.length], ['done', 2, 1]);
  });

  it('continues after a pace that a swap has introduced', async () => {
    const outcomes = [notSent('retry', { attempted: false, retry_after_ms: 1000 }), sentOk()];
    const { service, store, clock, runs } = immediateBench({ deliver: () => outcomes.shift() ?? sentOk() });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await clock.run(10_000);
    assert.deepEqual([stateOf(store, 'a'), storedIn(store, 'a')?.steps.length, runs.length], ['done', 1, 1]);
  });

  it('is made after the answer is stored if another delivery leaves the process', async () => {
    const deliveries = ['log', 'email'].map((target) => ({ target, extra: {}, unresolved: [] }));
    const { service, store, written } = immediateBench();
    await service.accept(makeDispatch('a', { deliveries }), claimOf('1'), null);
    await settle();
    assert.equal(stateOf(store, 'a'), 'done');
    const [, answered] = written;
    assert.deepEqual([answered?.kind === 'advance' && answered.to, written.length], ['delivering', 4]);
  });
});
