import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanUp, startRetention } from '../../../runtime/store/retention.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { count } from '../../helpers/dispatch-bench.ts';
import { HOLDER, makeAccept, makeAdvance, makeClaim, makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';
import type { MemoryStore } from '../../helpers/memory-store.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const DAY = 86_400_000;

async function finished(store: Store, count: number, at: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const id = `d${at}-${n}`;
    const accept = makeAccept(id, {
      dispatch: makeDispatch(id, { accepted_at: at }),
      claim: makeClaim(id, at + 1000),
      work: { kind: 'held', holder: HOLDER },
      now: at,
    });
    const stored = await store.write(accept);
    assert.ok(stored.kind === 'stored');
    await store.write(makeAdvance(stored.ref, 'dead', at));
  }
}

const listed = (store: MemoryStore): number => store.look({ kind: 'list', filter: { limit: 999 } }).length;

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
        if (mutation.kind !== 'trim') writes.push(mutation.kind);
        return store.write(mutation);
      },
    };
    const stop = startRetention({ store: spied, clock, log: silentLog, retentionDays: () => 14, maxBytes: () => 1e9 });
    await clock.run(60_000);
    assert.equal(writes.length, 1, 'one slice, then a pause');
    await clock.run(5000);
    assert.deepEqual([count(store, 'removed'), listed(store)], [500, 100]);
    assert.equal(store.look({ kind: 'is_claimed', key: makeClaim('d432000000-1'), now: 5 * DAY }), false);
    assert.ok(writes.length >= 5);
    assert.deepEqual(store.look({ kind: 'audit' }), []);
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
    startRetention({ store: flaky, clock, log, retentionDays: () => 14, maxBytes: () => 1e9 });
    await clock.run(120_000);
    await finished(store, 3, DAY);
    await finished(store, 1, 20 * DAY);
    down = false;
    await clock.run(3_700_000);
    assert.deepEqual([count(store, 'removed'), log.lines.length], [3, 1]);
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
    assert.equal(listed(store), 2);
  });

  it('removes the oldest that have ended while the store is too large, and warns before', async () => {
    const clock = new FakeClock(20 * DAY);
    const store = createMemoryStore();
    await store.write(makeAccept('waiting', { now: 19 * DAY }));
    await finished(store, 100, 19 * DAY);
    const log = recordLog();
    const { bytes } = store.look({ kind: 'overview', now: 0 });
    let maxBytes = bytes * 1.1;
    const stop = startRetention({ store, clock, log, retentionDays: () => 14, maxBytes: () => maxBytes });
    await clock.run(20_000);
    assert.deepEqual([listed(store), log.lines.map(({ level }) => level)], [101, ['warn']]);
    maxBytes = bytes / 2;
    await clock.run(20_000);
    assert.ok(listed(store) > 40 && listed(store) < 52, `${listed(store)}`);
    assert.equal(store.look({ kind: 'find', id: 'waiting' }).kind, 'found');
    stop();
  });
});
