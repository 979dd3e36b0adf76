/** A rate window over several gateways: slots that the store counts, and limits that are known without a query. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SlotRequest, TakeSlots } from '../../../modules/cluster/runtime/shared-window.ts';
import { SharedWindow } from '../../../modules/cluster/runtime/shared-window.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';

/** Counts as a store does; `asked` records the requests. */
function countingStore(clock: FakeClock, windowMs = 60_000) {
  let [opened, taken] = [0, 0];
  const asked: SlotRequest[] = [];
  const takeSlots: TakeSlots = async (request) => {
    asked.push(request);
    if (clock.monotonic() - opened >= windowMs) [opened, taken] = [clock.monotonic(), 0];
    const free = Math.max(0, request.limit - taken);
    const needed = Math.min(request.needed, free);
    const granted = needed + Math.min(request.ahead, Math.floor((free - needed) / 64));
    taken += granted;
    return { granted, taken, left_ms: opened + windowMs - clock.monotonic() };
  };
  return { takeSlots, asked };
}

test('requests of one moment share a query, and the limit holds over two gateways', async () => {
  const clock = new FakeClock();
  const { takeSlots, asked } = countingStore(clock);
  const [one, two] = [new SharedWindow('w', takeSlots, clock), new SharedWindow('w', takeSlots, clock)];
  const waits = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? one : two).take(5)));
  assert.equal(waits.filter((wait) => wait === 0).length, 5);
  assert.deepEqual(
    waits.filter((wait) => wait !== 0),
    [60, 60, 60],
  );
  assert.equal(asked.length, 4);
});

test('a full window rejects without a query until it ends', async () => {
  const clock = new FakeClock();
  const { takeSlots, asked } = countingStore(clock);
  const window = new SharedWindow('w', takeSlots, clock);
  assert.equal(await window.take(1), 0);
  clock.advance(58_500);
  assert.deepEqual([window.wait(1), window.take(1)], [2, 2]);
  assert.equal(window.wait(2), 0, 'a raised limit counts at once');
  assert.equal(asked.length, 1);
  clock.advance(1500);
  assert.equal(window.wait(1), 0);
  assert.equal(await window.take(1), 0);
});

test('a busy route reserves slots ahead, and never exceeds the limit', async () => {
  const clock = new FakeClock();
  const { takeSlots, asked } = countingStore(clock);
  const window = new SharedWindow('w', takeSlots, clock);
  let served = 0;
  for (let n = 0; n < 6000; n++) {
    clock.advance(2);
    if ((await window.take(5000)) === 0) served++;
  }
  assert.equal(served, 5000);
  assert.ok(asked.length < 700, `asked ${asked.length} times`);
});

test('slots of a window that has ended are not used in the next one', async () => {
  const clock = new FakeClock();
  const { takeSlots, asked } = countingStore(clock);
  const window = new SharedWindow('w', takeSlots, clock);
  for (let n = 0; n < 50; n++) await window.take(10_000);
  const before = asked.length;
  clock.advance(60_000);
  assert.equal(await window.take(1), 0);
  assert.equal(asked.length, before + 1);
  assert.notEqual(window.wait(1), 0);
});

test('a store that does not respond times out after a second, and the next request queries it again', async () => {
  const clock = new FakeClock();
  const { takeSlots } = countingStore(clock);
  let isCut = true;
  const window = new SharedWindow('w', (request) => (isCut ? new Promise(() => {}) : takeSlots(request)), clock);
  const waits = [window.take(5), window.take(5)];
  const refused = Promise.all(waits.map((wait) => assert.rejects(async () => wait, StoreUnavailable)));
  await clock.run(1000);
  await refused;
  isCut = false;
  assert.equal(await window.take(5), 0);
  await settle();
  assert.equal(clock.pending, 0);
});
