import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { withApprovals } from '../../../runtime/dispatch/asked-approvals.ts';
import type { RetryPolicy } from '../../../runtime/dispatch/context.ts';
import { decideDelivery } from '../../../runtime/dispatch/delivery-attempt.ts';
import { nominalWait, retryWait } from '../../../runtime/dispatch/retry-waits.ts';
import type { DeliveryPlan, Dispatch } from '../../../schemas/generated/types.ts';
import {
  claimOf,
  count,
  deferred,
  dispatchBench,
  notSent,
  sentOk,
  stateOf,
  storedIn,
} from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { routePlan } from '../../helpers/route-table.ts';

const delivery = { target: 'log', extra: {}, unresolved: [] };
const policy: RetryPolicy = { max_attempts: 3, at_most_once: false };

describe('decideDelivery', () => {
  const once = { ...policy, at_most_once: true };
  const cases: readonly [string, DeliveryOutcome, number, RetryPolicy, string][] = [
    ['ok is done', sentOk(), 1, policy, 'done'],
    ['permanent is dead at once', notSent('permanent'), 1, policy, 'dead: permanent reason'],
    ['retry is tried again', notSent('retry'), 2, policy, 'again in 8000'],
    ['retry ends with the attempts', notSent('retry'), 3, policy, 'dead: failed after 3 attempts: retry reason'],
    [
      'ambiguous is not repeated with at_most_once',
      notSent('ambiguous'),
      1,
      once,
      'dead: not retried, because it may have arrived: ambiguous reason',
    ],
    [
      'ambiguous is repeated with at_most_once if the target drops repeats',
      notSent('ambiguous', { idempotent: true }),
      1,
      once,
      'again in 2000',
    ],
    ['ambiguous is repeated', notSent('ambiguous'), 1, policy, 'again in 2000'],
    ['retry is tried again with at_most_once', notSent('retry'), 1, once, 'again in 2000'],
    [
      'ambiguous also ends with the attempts',
      notSent('ambiguous'),
      3,
      policy,
      'dead: failed after 3 attempts: ambiguous reason',
    ],
    ['a longer Retry-After is honoured', notSent('retry', { retry_after_ms: 60_000 }), 1, policy, 'again in 66000'],
    [
      'a shorter Retry-After does not shorten the wait',
      notSent('retry', { retry_after_ms: 1 }),
      2,
      policy,
      'again in 8000',
    ],
    [
      'a Retry-After of a week is clamped to an hour',
      notSent('retry', { retry_after_ms: 6e8 }),
      1,
      policy,
      'again in 3960000',
    ],
    [
      'an attempt that was not made uses nothing up',
      notSent('retry', { attempted: false, retry_after_ms: 50 }),
      3,
      policy,
      'paced for 50',
    ],
  ];
  for (const [what, outcome, attempt, rules, expected] of cases) {
    it(what, () => {
      const decision = decideDelivery(outcome, attempt, rules, 0.5);
      const seen = {
        done: () => 'done',
        dead: () => `dead: ${'reason' in decision ? decision.reason : ''}`,
        retry: () => `again in ${'wait_ms' in decision ? decision.wait_ms : ''}`,
        paced: () => `paced for ${'wait_ms' in decision ? decision.wait_ms : ''}`,
      }[decision.kind]();
      assert.equal(seen, expected);
    });
  }
});

describe('retryWait', () => {
  it('grows from two seconds to an hour and varies by a fifth in each direction', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((attempt) => nominalWait(attempt) / 1000);
    assert.deepEqual(waits, [2, 8, 32, 128, 512, 2048, 3600, 3600, 3600]);
    assert.deepEqual(
      [0, 0.5, 0.999999].map((random) => retryWait(3, null, random)),
      [25_600, 32_000, 38_400],
    );
  });

  it('is never shorter than the target requested', () => {
    for (const random of [0, 0.5, 0.99]) assert.ok(retryWait(3, 31_900, random) >= 31_900);
  });
});

describe('delivery', () => {
  it('repeats a failed attempt until it arrives, from where the last one stopped', async () => {
    const outcomes = [notSent('retry', { sent: 1 }), notSent('retry', { sent: 2 }), sentOk(3)];
    const { service, clock, store, deliveries, runs } = dispatchBench({ deliver: () => outcomes.shift() ?? sentOk() });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    const start = clock.now();
    await clock.run(10_000);
    assert.deepEqual(
      deliveries.map(({ sent, first_attempt_at }) => [sent, first_attempt_at]),
      [
        [0, null],
        [1, start],
        [2, start],
      ],
    );
    const stored = storedIn(store, 'a');
    assert.deepEqual(
      stored?.steps.map(({ outcome, at, next_at }) => [outcome, at - start, next_at === null ? null : next_at - start]),
      [
        ['retry', 0, 2000],
        ['retry', 2000, 10_000],
        ['ok', 10_000, null],
      ],
    );
    assert.deepEqual([stored?.state, runs.length], ['done', 1]);
  });

  it('ends dead with the reason when all attempts are used up', async () => {
    const { service, clock, store, deliveries } = dispatchBench({ deliver: () => notSent('retry') });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await clock.run(3 * 3_600_000);
    assert.equal(deliveries.length, 8);
    assert.equal(stateOf(store, 'a'), 'dead');
    assert.match(storedIn(store, 'a')?.reason ?? '', /^log: .*\b8\b.*: retry reason$/);
    assert.equal(clock.pending, 0);
  });

  it('delivers to each target separately: one that is down delays no other', async () => {
    const targets = ['log', 'messenger_a', 'email'].map((target) => ({ target, extra: {}, unresolved: [] }));
    const labelled = targets.map((each) => (each.target === 'messenger_a' ? { ...each, label: 'telegram' } : each));
    const { service, clock, store, deliveries } = dispatchBench({
      deliver: ({ target }) => (target === 'log' ? sentOk() : notSent(target === 'email' ? 'permanent' : 'retry')),
    });
    await service.accept(makeDispatch('a', { deliveries: labelled }), claimOf('1'), null);
    await settle();
    assert.deepEqual(deliveries.map(({ key }) => key).sort(), ['a:0', 'a:1', 'a:2']);
    assert.equal(stateOf(store, 'a'), 'delivering');
    await clock.run(3 * 3_600_000);
    assert.match(storedIn(store, 'a')?.reason ?? '', /^telegram: .*\b8\b.*: retry reason; email: permanent reason$/);
    assert.equal(deliveries.filter(({ target }) => target === 'log').length, 1);
  });

  it('retries a paced target without recording or using up anything', async () => {
    let free = false;
    const paced = notSent('retry', { attempted: false, retry_after_ms: 1000 });
    const { service, clock, store } = dispatchBench({ deliver: () => (free ? sentOk() : paced) });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await clock.run(100_000);
    assert.deepEqual([stateOf(store, 'a'), storedIn(store, 'a')?.steps.length], ['delivering', 0]);
    free = true;
    await clock.run(1000);
    assert.deepEqual([stateOf(store, 'a'), storedIn(store, 'a')?.steps.length], ['done', 1]);
  });

  it('treats a deliverer that throws as an ambiguous outcome', async () => {
    const { service, store, lines } = dispatchBench({ deliver: () => Promise.reject(new Error('bug')) });
    await service.accept(makeDispatch('a'), claimOf('1'), null);
    await settle();
    const [step] = storedIn(store, 'a')?.steps.filter(({ kind }) => kind === 'delivery') ?? [];
    assert.deepEqual([step?.outcome, typeof step?.next_at], ['ambiguous', 'number']);
    assert.ok(lines.some(({ level, fields }) => level === 'error' && fields.err instanceof Error));
  });

  it('makes at most eight concurrent attempts to one target', async () => {
    const gate = deferred<DeliveryOutcome>();
    const limits = { max_concurrent_runs: 50, max_queued_runs: 100 };
    const bench = dispatchBench({ deliver: () => gate.promise, context: { limits: () => limits } });
    for (let n = 0; n < 12; n++) await bench.service.accept(makeDispatch(`a${n}`), claimOf(`${n}`), null);
    const email = makeDispatch('b', { deliveries: [{ target: 'email', extra: {}, unresolved: [] }] });
    await bench.service.accept(email, claimOf('b'), null);
    await settle();
    assert.deepEqual(
      ['log', 'email'].map((name) => bench.deliveries.filter(({ target }) => target === name).length),
      [8, 1],
    );
    gate.resolve(sentOk());
    await settle();
    assert.equal(count(bench.store, 'done'), 13);
  });

  it('makes no more attempts while earlier ones cannot be recorded, and starts a limited number of runs', async () => {
    const store = createMemoryStore();
    const gate = deferred<void>();
    const write = store.write.bind(store);
    store.write = async (mutation) => {
      const isEnd = mutation.kind === 'record_attempt' || (mutation.kind === 'advance' && mutation.to === 'skipped');
      if (isEnd) await gate.promise;
      return write(mutation);
    };
    const { service, deliveries, runs } = dispatchBench({
      store,
      agent: async ({ prompt }) => (prompt === 'silent' ? '' : prompt),
      context: { limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 1000 }) },
    });
    const accept = (id: string, prompt: string) => service.accept(makeDispatch(id, { prompt }), claimOf(id), null);
    for (let n = 0; n < 20; n++) await accept(`d${n}`, 'text');
    await settle(40);
    assert.equal(deliveries.length, 8);
    for (let n = 0; n < 300; n++) await accept(`s${n}`, 'silent');
    await settle(400);
    assert.ok(runs.length >= 276 && runs.length <= 280, `${runs.length}`);
    gate.resolve();
    await settle(400);
    assert.deepEqual([deliveries.length, runs.length], [20, 320]);
    const { runs_active, deliveries_active } = await service.counts();
    assert.deepEqual([runs_active, deliveries_active], [0, 0]);
  });

  it('waits for the approval that the table asks for, if the stored row does not ask', async () => {
    const asked = (dispatch: Dispatch): Dispatch =>
      withApprovals(
        { routes: { [dispatch.route ?? '']: routePlan('alerts', { deliver: [planned] }) }, jobs: {} },
        dispatch,
      );
    const planned = { target: 'log', label: null, extra: [], approve_ms: 60_000 } as unknown as DeliveryPlan;
    for (const mode of ['agent', 'message'] as const) {
      const { service, store, deliveries, runs } = dispatchBench({ context: { asked } });
      await service.accept(makeDispatch('a', { mode, deliveries: [delivery] }), claimOf('1'), null);
      await settle();
      assert.deepEqual([deliveries.length, runs.length], [0, mode === 'agent' ? 1 : 0], mode);
      if (mode === 'message') assert.match(storedIn(store, 'a')?.reason ?? '', /delivery 0 of a needs approval/);
      else assert.equal(storedIn(store, 'a')?.dispatch.deliveries[0]?.approve_ms, 60_000);
      assert.equal(stateOf(store, 'a'), mode === 'agent' ? 'waiting' : 'dead');
    }
  });

  it('is done when a dispatch names no target', async () => {
    const { service, store } = dispatchBench();
    await service.accept(makeDispatch('a', { deliveries: [] }), claimOf('1'), null);
    await settle();
    assert.equal(stateOf(store, 'a'), 'done');
  });
});

describe('an alert', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const to = (target: string) => ({ target, extra: {}, unresolved: [] });

  /** @param targets the receivers @param upAfter ms after which every target accepts messages */
  async function watch(targets: readonly string[], outcome: DeliveryOutcome, upAfter: number, more: object = {}) {
    const begun = { at: 0 };
    const bench = dispatchBench({
      deliver: ({ target }) => (target === 'up' || bench.clock.now() - begun.at >= upAfter ? sentOk() : outcome),
    });
    begun.at = bench.clock.now();
    const own = { mode: 'message', route: null, event: 'alert', accepted_at: begun.at, ...more } as const;
    await bench.service.accept(makeDispatch('a', { ...own, deliveries: targets.map(to) }), claimOf('1'), null);
    const tries = (): readonly number[] =>
      storedIn(bench.store, 'a')
        ?.steps.filter(({ kind }) => kind === 'delivery')
        .map(({ at }) => at - begun.at) ?? [];
    return { ...bench, tries, state: () => storedIn(bench.store, 'a')?.state };
  }

  for (const kind of ['permanent', 'retry', 'ambiguous'] as const) {
    it(`waits for its only target, which answers ${kind}, and is sent within minutes of its return`, async () => {
      const { clock, tries, state } = await watch(['slack'], notSent(kind), 20 * HOUR);
      await clock.run(20 * HOUR);
      assert.equal(state(), 'delivering');
      await clock.run(6 * MINUTE);
      assert.equal(state(), 'done');
      const waits = tries().map((at, index) => at - (tries()[index - 1] ?? 0));
      assert.ok(waits.every((wait) => wait <= 6 * MINUTE));
      assert.ok(tries().length < 300, `${tries().length} attempts`);
    });
  }

  it('is dead after a day', async () => {
    const { clock, state } = await watch(['slack'], notSent('permanent'), 48 * HOUR);
    await clock.run(23.9 * HOUR);
    assert.equal(state(), 'delivering');
    await clock.run(12 * MINUTE);
    assert.equal(state(), 'dead');
  });

  it('does not wait for a target that rejects it if there are others, but for one that is down', async () => {
    const rejected = await watch(['slack', 'up'], notSent('permanent'), 20 * HOUR);
    await rejected.clock.run(MINUTE);
    assert.equal(rejected.state(), 'dead');
    const down = await watch(['slack', 'up'], notSent('retry'), 20 * HOUR);
    await down.clock.run(20.2 * HOUR);
    assert.equal(down.state(), 'done');
  });

  it('honours a long Retry-After', async () => {
    const { clock, tries } = await watch(['slack'], notSent('retry', { retry_after_ms: 30 * MINUTE }), 20 * HOUR);
    await clock.run(29 * MINUTE);
    assert.equal(tries().length, 1);
  });

  it('is the only message of the gateway that waits, besides a request for approval', async () => {
    for (const [event, expected] of [
      ['approval', 'delivering'],
      ['run_failed', 'dead'],
      ['alert_test', 'dead'],
    ] as const) {
      const { clock, state } = await watch(['slack'], notSent('permanent'), 20 * HOUR, { event });
      await clock.run(MINUTE);
      assert.equal(state(), expected, event);
    }
    const { clock, state } = await watch(['slack'], notSent('permanent'), 20 * HOUR, { route: 'alerts' });
    await clock.run(MINUTE);
    assert.equal(state(), 'dead', 'an event of a route that is called alert');
  });
});
