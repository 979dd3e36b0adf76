/**
 * Tests the counts of each minute: taken from the gateway's counters, and stored once a minute, only if there is something to
 * store.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CountedMetrics } from '../../../modules/telemetry/runtime/metrics.ts';
import { recordFigures } from '../../../modules/telemetry/runtime/series.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const MINUTE = 60_000;

function bench() {
  const clock = new FakeClock(Date.UTC(2026, 0, 1) + 20_000);
  const metrics = new CountedMetrics();
  const store = createMemoryStore();
  let writes = 0;
  let held = Promise.resolve();
  /** Blocks the store until the returned function is called. */
  const hold = (): (() => void) => {
    let go = (): void => {};
    held = new Promise((resolve) => {
      go = resolve;
    });
    return () => go();
  };
  const counted: typeof store = {
    ...store,
    async write(change) {
      writes++;
      await held;
      return store.write(change);
    },
  };
  const { end, store: storeNow } = recordFigures({
    totals: () => metrics.requestTotals(),
    store: counted,
    clock,
    log: silentLog,
  });
  const request = (outcome: string, ms: number, route = 'alerts', isEvent = true): void =>
    metrics.onRequest({ profile: 'default', route, outcome, ignored: null, ms, secret: 0, isEvent } as never);
  const figures = () => store.look({ kind: 'figures', since: 0, slot_ms: MINUTE });
  return { clock, store, request, end, figures, hold, storeNow, writes: () => writes };
}

it('counts each event in its minute by outcome, with the response times', async () => {
  const { clock, store, request, figures } = bench();
  for (const [outcome, ms] of [
    ['accepted', 0.8],
    ['coalesced', 0.8],
    ['ignored', 3],
    ['duplicate', 0.9],
  ] as const)
    request(outcome, ms);
  request('invalid_signature', 0.7);
  request('overloaded', 0.7);
  request('unknown_route', 0.1, '', false);
  request('unknown_route', 0.1, '');
  await store.write(makeAccept('a'));
  clock.advance(40_000);
  await settle();
  request('delivered', 200);
  clock.advance(MINUTE);
  await settle();
  const [first, second, ...more] = figures();
  const { half_us, most_us, slot, ...counts } = first ?? assert.fail();
  assert.equal(slot, Date.UTC(2026, 0, 1));
  assert.deepEqual(counts, { taken: 2, ignored: 1, duplicate: 1, refused: 2, failed: 1, waiting: 1 });
  assert.ok(half_us > 500 && half_us <= 1000, `${half_us}`);
  assert.ok(most_us > 2500 && most_us <= 5000, `${most_us}`);
  assert.deepEqual([second?.slot, second?.taken, more], [Date.UTC(2026, 0, 1) + MINUTE, 1, []]);
});

it('writes nothing in an idle minute, and the unfinished minute at the end', async () => {
  const { clock, request, end, figures, writes } = bench();
  clock.advance(10 * MINUTE);
  await settle();
  assert.equal(writes(), 0);
  request('accepted', 1);
  await end();
  assert.deepEqual([figures().length, figures()[0]?.taken, clock.pending], [1, 1, 0]);
});

it('keeps what a process counted until a few seconds before it was killed', async () => {
  const { clock, request, figures } = bench();
  for (const ms of [1, 200]) {
    request('accepted', ms);
    clock.advance(5000);
    await settle();
  }
  assert.deepEqual(
    figures().map(({ slot, taken }) => [slot, taken]),
    [[Date.UTC(2026, 0, 1), 2]],
  );
  clock.advance(30_000);
  await settle();
  const [{ taken, most_us } = assert.fail()] = figures();
  assert.ok(taken === 2 && most_us > 100_000, `${taken} ${most_us}`);
});

it('has the figures of the current minute when they are asked for, and counts each event once', async () => {
  const { request, figures, storeNow, end } = bench();
  request('accepted', 1);
  await Promise.all([storeNow(), storeNow()]);
  assert.deepEqual(
    figures().map(({ taken }) => taken),
    [1],
  );
  request('accepted', 1);
  await Promise.all([storeNow(), end()]);
  assert.deepEqual(
    figures().map(({ taken }) => taken),
    [2],
  );
});

it('counts each event once if the store takes longer than a minute', async () => {
  const { clock, request, figures, hold } = bench();
  const go = hold();
  request('accepted', 1);
  clock.advance(MINUTE);
  await settle();
  request('accepted', 1);
  clock.advance(2 * MINUTE);
  await settle();
  go();
  await settle();
  assert.equal(
    figures().reduce((sum, { taken }) => sum + taken, 0),
    2,
  );
});
