/** Whether a sync is waited for here or beside the event loop, and how long the events of `full` gather for one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QuickSync } from '../../../runtime/store/journal/quick-sync.ts';
import { Gathering } from '../../../runtime/store/sqlite/gathering.ts';

describe('a sync', () => {
  /** A disk whose syncs take so long, on a clock that only they and the test move. */
  function setUp() {
    const disk = { took: 0.5, now: 0, here: 0, beside: 0, failure: null as Error | null };
    const sync = new QuickSync({
      now: () => disk.now,
      here: () => {
        disk.here++;
        disk.now += disk.took;
        if (disk.failure !== null) throw disk.failure;
      },
      beside: (_, done) => {
        disk.beside++;
        done(disk.failure);
      },
    });
    /** Syncs `count` times, a ms apart; how many of them were waited for. */
    const run = (count: number): number => {
      const before = disk.here;
      for (let n = 0; n < count; n++) {
        disk.now += 1;
        sync.sync(3, () => {});
      }
      return disk.here - before;
    };
    return { disk, sync, run };
  }

  it('of a quick disk is waited for', () => {
    const { run, disk } = setUp();
    assert.equal(run(100), 100);
    assert.equal(disk.beside, 0);
  });

  it('of a slow disk costs the event loop less and less of its time', () => {
    const { run, disk } = setUp();
    disk.took = 10;
    assert.deepEqual([run(41), run(81), run(161)], [2, 1, 1]);
    run(10_000);
    const waited = run(10_000);
    assert.ok(waited <= 4, `${waited} of 10,000`);
  });

  it('that was slow once is soon waited for again', () => {
    const { run, disk } = setUp();
    for (let n = 0; n < 5; n++) {
      disk.took = 3;
      assert.equal(run(1), 1);
      assert.equal(run(11), 0);
      disk.took = 0.5;
      assert.equal(run(5), 5);
    }
  });

  it('says why it failed, here and beside', () => {
    const { disk, sync } = setUp();
    disk.failure = new Error('EIO: i/o error, fdatasync');
    const told: (string | undefined)[] = [];
    const done = (error: Error | null): void => void told.push(error?.message);
    sync.sync(3, done);
    disk.took = 10;
    sync.sync(3, done);
    sync.sync(3, done);
    assert.deepEqual([told, disk.here, disk.beside], [Array(3).fill(disk.failure.message), 2, 1]);
  });
});

describe('a group of events', () => {
  it('waits as long as each turn brings more', () => {
    const gathering = new Gathering();
    const asked = [3, 9, 9].map((count, turn) => gathering.goesOn(count, turn));
    assert.deepEqual(asked, [true, true, false]);
    // The next one is a group of its own, even if it is smaller.
    assert.deepEqual([gathering.goesOn(2, 10), gathering.goesOn(2, 11)], [true, false]);
  });

  it('waits for some ms at most', () => {
    const gathering = new Gathering();
    const asked = Array.from({ length: 10 }, (_, turn) => gathering.goesOn(turn + 1, 100 + turn * 2));
    assert.deepEqual(asked, [true, true, true, true, false, true, true, true, true, false]);
  });

  it('without an event waits for nothing', () => {
    assert.equal(new Gathering().goesOn(0, 0), false);
  });
});
