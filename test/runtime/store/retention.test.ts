import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemoryStore } from '../../../runtime/store/memory-store.ts';
import { cleanUp, startRetention } from '../../../runtime/store/retention.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { makeAccept, makeClaim, makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';

const DAY = 86_400_000;

async function finished(store: Store, count: number, at: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const id = `d${at}-${n}`;
    const accept = makeAccept(id, {
      dispatch: makeDispatch(id, { accepted_at: at }),
      claim: makeClaim(id, at + 1000),
      now: at,
    });
    const stored = await store.write(accept);
    assert.ok(stored.kind === 'stored');
    await store.write({ kind: 'advance', ref: stored.ref, to: 'dead', at });
  }
}

describe('retention', () => {
  it('removes ended dispatches after their days and delivery ids after their time, in slices', async () => {
    const clock = new FakeClock(20 * DAY);
    const store = createMemoryStore();
    await finished(store, 500, 5 * DAY);
    await finished(store, 100, 19 * DAY);
    const writes: string[] = [];
    const spied: Store = {
      ...store,
      write(mutation) {
        writes.push(mutation.kind);
        return store.write(mutation);
      },
    };
    const stop = startRetention({ store: spied, clock, log: silentLog, retentionDays: () => 14 });
    await clock.run(60_000);
    assert.equal(writes.length, 1, 'one slice, then a pause');
    await clock.run(5000);
    assert.deepEqual([store.tallies()[0]?.removed, store.list({ limit: 999 }).length], [500, 100]);
    assert.equal(store.isClaimed(makeClaim('d432000000-1'), 5 * DAY), false);
    assert.ok(writes.length >= 5);
    assert.deepEqual(store.audit(), []);
    stop();
    assert.equal(clock.pending, 0);
  });

  it('comes again every hour, also after the store was unavailable', async () => {
    const clock = new FakeClock(20 * DAY);
    const store = createMemoryStore();
    let down = true;
    const flaky: Store = {
      ...store,
      write: (mutation) => (down ? Promise.reject(new StoreUnavailable('full')) : store.write(mutation)),
    };
    const log = recordLog();
    startRetention({ store: flaky, clock, log, retentionDays: () => 14 });
    await clock.run(120_000);
    await finished(store, 3, DAY);
    await finished(store, 1, 20 * DAY);
    down = false;
    await clock.run(3_700_000);
    assert.deepEqual([store.tallies()[0]?.removed, log.lines.length], [3, 1]);
  });

  it('keeps what has not ended, however old', async () => {
    const clock = new FakeClock(100 * DAY);
    const store = createMemoryStore();
    await store.write(makeAccept('a', { now: 1 }));
    await finished(store, 1, DAY);
    const done = cleanUp({ store, clock, retentionDays: () => 14 }, () => false);
    await clock.run(1000);
    assert.equal(await done, 0);
    await settle();
    assert.equal(store.list({ limit: 9 }).length, 2);
  });
});
