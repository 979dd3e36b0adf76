import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { cleanUp, startRetention } from '../../../runtime/store/retention.ts';
import { makeAccept, makeAdvance, makeClaim, makeDispatch, makeTake } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const DAY = 86_400_000;
const LARGE = 1e12;

async function finished(store: Store, count: number, at: number, prompt = 'x'): Promise<void> {
  for (let n = 0; n < count; n++) {
    const id = `d${at}-${n}`;
    const dispatch = makeDispatch(id, { accepted_at: at, prompt });
    await store.write(makeAccept(id, { dispatch, claim: makeClaim(id, at + 1000), now: at }));
    const [run] = (await store.write(makeTake(at))).runs;
    assert.ok(run !== undefined);
    await store.write(makeAdvance(run.ref, 'dead', at));
  }
}

const options = { log: silentLog, retentionDays: () => 14, maxBytes: () => LARGE };

describe('retention', () => {
  it('removes ended dispatches after their days and delivery ids after their time, in slices', async () => {
    const clock = new FakeClock(20 * DAY);
    const store = createMemoryStore();
    await finished(store, 500, 5 * DAY);
    await finished(store, 100, 19 * DAY);
    const writes: string[] = [];
    const write: Store['write'] = (mutation) => {
      if (mutation.kind !== 'trim') writes.push(mutation.kind);
      return store.write(mutation);
    };
    const stop = startRetention({ ...options, store: { ...store, write }, clock });
    await clock.run(60_000);
    assert.equal(writes.length, 1, 'one slice, then a pause');
    await clock.run(5000);
    const { tallies } = store.look({ kind: 'overview', now: 0 });
    assert.deepEqual([tallies[0]?.removed, store.look({ kind: 'list', filter: { limit: 999 } }).length], [500, 100]);
    assert.equal(store.look({ kind: 'is_claimed', key: makeClaim('d432000000-1'), now: 5 * DAY }), false);
    assert.ok(writes.length >= 5);
    assert.deepEqual(store.look({ kind: 'audit' }), []);
    stop();
    assert.equal(clock.pending, 0);
  });

  it('repeats every hour, even after the store was unavailable', async () => {
    const clock = new FakeClock(20 * DAY);
    const store = createMemoryStore();
    let down = true;
    const write: Store['write'] = (mutation) =>
      down ? Promise.reject(new StoreUnavailable('full')) : store.write(mutation);
    const log = recordLog();
    startRetention({ ...options, store: { ...store, write }, clock, log });
    await clock.run(120_000);
    await finished(store, 3, DAY);
    await finished(store, 1, 20 * DAY);
    down = false;
    await clock.run(3_700_000);
    const { tallies } = store.look({ kind: 'overview', now: 0 });
    assert.deepEqual([tallies[0]?.removed, log.lines.length], [3, 1]);
  });

  it('keeps unfinished dispatches, however old', async () => {
    const clock = new FakeClock(100 * DAY);
    const store = createMemoryStore();
    await finished(store, 1, DAY);
    await store.write(makeAccept('a', { now: 1 }));
    const done = cleanUp({ store, clock, retentionDays: () => 14 }, () => false);
    await clock.run(1000);
    assert.equal(await done, 1);
    await settle();
    assert.equal(store.look({ kind: 'list', filter: { limit: 9 } }).length, 1);
  });
});

describe('the size', () => {
  it('is limited: the oldest ended dispatches are removed early, and a warning is logged before', async () => {
    const clock = new FakeClock(20 * DAY);
    const store = createMemoryStore();
    const log = recordLog();
    const size = (): number => store.look({ kind: 'overview', now: 0 }).bytes;
    await finished(store, 1, 20 * DAY, 'x'.repeat(1000));
    const maxBytes = Math.round(size() * 100);
    const stop = startRetention({ ...options, store, clock, log, maxBytes: () => maxBytes });
    await finished(store, 70, 20 * DAY + 1, 'x'.repeat(1000));
    await clock.run(5000);
    assert.equal(log.lines.length, 0);
    await finished(store, 20, 20 * DAY + 2, 'x'.repeat(1000));
    await clock.run(20_000);
    assert.deepEqual(
      log.lines.map(({ level }) => level),
      ['warn'],
    );
    await finished(store, 150, 20 * DAY + 3, 'x'.repeat(1000));
    await clock.run(20_000);
    assert.ok(size() <= maxBytes && size() > maxBytes * 0.9, `${size()} of ${maxBytes}`);
    const left = store.look({ kind: 'list', filter: { limit: 999 } });
    assert.equal(left.at(-1)?.accepted_at, 20 * DAY + 3, 'the oldest have gone');
    assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 1);
    stop();
  });
});
