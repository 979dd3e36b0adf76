/**
 * A table that removes the target or profile of pending work: it waits on the retry schedule, and resumes when a later
 * table restores it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDeliverer } from '../../../runtime/deliver/create-deliverer.ts';
import type { Driver } from '../../../runtime/deliver/deliverer.ts';
import type { LinkedTargets } from '../../../runtime/deliver/link-targets.ts';
import { claimOf, dispatchBench, notSent, sentOk, stateOf, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { recordLog } from '../../helpers/log.ts';

const MINUTE = 60_000;
/** Eight attempts take less. */
const ALL_ATTEMPTS = 180 * MINUTE;
const NO_TARGETS: LinkedTargets = new Map();

function setUp() {
  const outcomes = [notSent('retry')];
  const driver = { immediate: false, deliver: async () => outcomes.shift() ?? sentOk() } as unknown as Driver;
  const linked = new Map([
    ['default', new Map([['chat', { driver, bound: { homeChannel: null } }]])],
  ]) as unknown as LinkedTargets;
  const deliverer = createDeliverer({ linked, context: { log: recordLog() }, mirror: async () => {} });
  const agent = { timeout_ms: MINUTE, max_attempts: 1, run: async () => 'answer' };
  const has = { agent: true };
  const bench = dispatchBench({ context: { deliverer, agents: () => (has.agent ? agent : null) } });
  const dispatch = makeDispatch('a', { deliveries: [{ target: 'chat', extra: {}, unresolved: [] }] });
  const accept = async (): Promise<void> => {
    await bench.service.accept(dispatch, claimOf('1'), null);
    await settle();
  };
  const swap = (targets: LinkedTargets): void => {
    deliverer.use(targets);
    bench.service.wake();
  };
  return { ...bench, accept, swap, linked, has };
}

describe('a delivery whose target was removed', () => {
  it('waits, and is made once the target is back', async () => {
    const { accept, swap, clock, store, linked } = setUp();
    await accept();
    assert.equal(stateOf(store, 'a'), 'delivering', 'the first attempt has failed');
    swap(NO_TARGETS);
    await clock.run(10 * MINUTE);
    assert.equal(stateOf(store, 'a'), 'delivering');
    assert.match(storedIn(store, 'a')?.steps.at(-1)?.reason ?? '', /\bchat\b.*\bdefault$/);
    swap(linked);
    await clock.run(ALL_ATTEMPTS);
    assert.equal(stateOf(store, 'a'), 'done');
  });

  it('is dead at the end of the retry schedule', async () => {
    const { accept, swap, clock, store } = setUp();
    await accept();
    swap(NO_TARGETS);
    await clock.run(ALL_ATTEMPTS);
    assert.equal(stateOf(store, 'a'), 'dead');
    assert.match(storedIn(store, 'a')?.reason ?? '', /^chat: .*\b8\b.*\bchat\b/);
  });
});

describe('a run that waits', () => {
  it('is postponed while it has no target: the agent does not run for nothing', async () => {
    const { accept, swap, clock, store, linked } = setUp();
    swap(NO_TARGETS);
    await accept();
    await clock.run(MINUTE);
    const { state, answer } = storedIn(store, 'a') ?? {};
    assert.deepEqual([state, answer], ['pending', null]);
    swap(linked);
    await clock.run(ALL_ATTEMPTS);
    assert.deepEqual([stateOf(store, 'a'), storedIn(store, 'a')?.answer], ['done', 'answer']);
  });

  it('is postponed while its profile is missing, and dead at the end of the schedule', async () => {
    const { accept, has, clock, store } = setUp();
    has.agent = false;
    await accept();
    await clock.run(MINUTE);
    assert.equal(stateOf(store, 'a'), 'pending');
    await clock.run(ALL_ATTEMPTS);
    assert.deepEqual([stateOf(store, 'a'), storedIn(store, 'a')?.reason?.includes('"default"')], ['dead', true]);
  });
});
