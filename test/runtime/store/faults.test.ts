import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { Accept } from '../../../runtime/store/mutations.ts';
import { createTransactions } from '../../../runtime/store/sqlite/commit.ts';
import { createDurableCommit } from '../../../runtime/store/sqlite/durable-commit.ts';
import { LogSync } from '../../../runtime/store/sqlite/log-sync.ts';
import { migrate } from '../../../runtime/store/sqlite/migrations.ts';
import { openDatabase } from '../../../runtime/store/sqlite/open-database.ts';
import { createReader } from '../../../runtime/store/sqlite/reader.ts';
import { startThread } from '../../../runtime/store/sqlite/start-thread.ts';
import { openCommandStore, openServerStore } from '../../../runtime/store/sqlite-store.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { claimOf, dispatchBench } from '../../helpers/dispatch-bench.ts';
import { makeAccept, makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { tinyDisk } from '../../helpers/tiny-disk.ts';

const big = (id: string) => makeAccept(id, { dispatch: makeDispatch(id, { prompt: 'x'.repeat(20_000) }), claim: null });

/** Writes so many at once until no more is taken; answers how many were. */
async function fill(store: Store, atOnce = 1): Promise<number> {
  for (let stored = 0; stored < 1000; stored += atOnce) {
    const ids = Array.from({ length: atOnce }, (_, n) => `fill${String(stored + n).padStart(4, '0')}`);
    const results = await Promise.allSettled(ids.map((id) => store.write(big(id))));
    for (const result of results) {
      if (result.status === 'rejected') assert.ok(result.reason instanceof StoreUnavailable, String(result.reason));
    }
    const taken = results.filter(({ status }) => status === 'fulfilled').length;
    if (taken < atOnce) return stored + taken;
  }
  throw new Error('the disk is never full');
}

describe('a full disk', () => {
  it('refuses what it cannot store, keeps what it has, and recovers without a restart', async (t) => {
    const disk = tinyDisk(t, '1m');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(300_000));
    const store = openServerStore({ path: join(disk, 'state.db'), durability: 'full', log: silentLog });
    t.after(() => store.close());
    const stored = await fill(store);
    assert.ok(stored > 3, `${stored} stored`);
    assert.equal(store.tallies()[0]?.accepted, stored);
    const { service } = dispatchBench({ store });
    assert.deepEqual(await service.accept(big('refused').dispatch, claimOf('1'), null), {
      ...{ kind: 'overloaded', retry_after_seconds: 10 },
    });
    assert.equal(service.isDone(claimOf('1'), true), false);
    rmSync(ballast);
    assert.equal((await service.accept(big('later').dispatch, claimOf('1'), null)).kind, 'accepted');
    await settle(20);
    assert.deepEqual([store.find('refused'), store.audit()], [null, []]);
    assert.equal(store.tallies()[0]?.accepted, stored + 1);
  });

  it('keeps what is in its journal when it got full, and brings it into the tables once there is space', async (t) => {
    const disk = tinyDisk(t, '12m');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const path = join(disk, 'state.db');
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(8_000_000));
    const store = openServerStore({ path, durability: 'full', log: silentLog });
    t.after(() => store.close());
    const stored = await fill(store, 10);
    assert.ok(stored >= 10 && stored % 10 === 0, `${stored} stored`);
    rmSync(ballast);
    await store.write(big('later'));
    await store.settle();
    assert.equal(store.tallies()[0]?.accepted, stored + 1);
    assert.deepEqual(store.audit(), []);
  });
});

describe('a commit', () => {
  const setUp = (t: TestContext) => {
    const db = openDatabase(join(tempDir(t), 'state.db'), 'full');
    migrate(db);
    t.after(() => db.close());
    const { commit } = createTransactions(db);
    const write = (accepts: readonly Accept[]): readonly string[] =>
      commit(accepts.map((mutation) => ({ ref: null, mutation }))).map(({ kind }) => kind);
    const kinds = (ids: readonly string[]): readonly string[] => write(ids.map((id) => makeAccept(id)));
    return { db, kinds, write };
  };

  it('is refused as a whole while the database is read-only, and works again afterwards', (t) => {
    const { db, kinds } = setUp(t);
    db.exec('PRAGMA query_only = 1');
    assert.deepEqual(kinds(['a', 'b']), ['unavailable', 'unavailable']);
    db.exec('PRAGMA query_only = 0');
    assert.deepEqual(kinds(['a', 'b']), ['ok', 'ok']);
  });

  it('is refused as a whole when the file may not grow, and works again afterwards', (t) => {
    const { db, kinds } = setUp(t);
    db.exec('PRAGMA max_page_count = 30');
    const ids = Array.from({ length: 500 }, (_, n) => `d${n}`);
    assert.deepEqual(new Set(kinds(ids)), new Set(['unavailable']));
    db.exec('PRAGMA max_page_count = 100000');
    assert.deepEqual(new Set(kinds(ids)), new Set(['ok']));
  });

  it('stores everything but the one change that can never be stored', (t) => {
    const { db, kinds, write } = setUp(t);
    // The same id under another delivery id: no duplicate event, but a dispatch that cannot be.
    const twin = makeAccept('b', { claim: null });
    assert.deepEqual(write([makeAccept('a'), makeAccept('b'), twin, makeAccept('c')]), ['ok', 'ok', 'failed', 'ok']);
    assert.deepEqual(kinds(['d']), ['ok']);
    assert.deepEqual(createReader(db).audit(), []);
  });
});

describe('a torn write-ahead log', () => {
  it('gives back a prefix of what was written, whole and consistent, wherever it is torn', async (t) => {
    const folder = tempDir(t);
    const path = join(folder, 'state.db');
    const store = openCommandStore(path);
    t.after(() => store.close());
    for (let n = 0; n < 40; n++) {
      const stored = await store.write(makeAccept(`d${n}`));
      if (n % 3 === 0 && stored.kind === 'stored') {
        await store.write({ kind: 'advance', ref: stored.ref, to: 'dead', at: 5, reason: 'x' });
      }
    }
    const length = statSync(`${path}-wal`).size;
    let last = 0;
    for (let cut = 0; cut <= 24; cut++) {
      const copy = join(folder, `copy${cut}`, 'state.db');
      mkdirSync(join(copy, '..'));
      copyFileSync(path, copy);
      copyFileSync(`${path}-wal`, `${copy}-wal`);
      const at = Math.floor((length * cut) / 24);
      truncateSync(`${copy}-wal`, at);
      // A block that was being written when the power went holds anything at all.
      if (cut % 2 === 1)
        writeFileSync(`${copy}-wal`, Buffer.concat([readFileSync(`${copy}-wal`), Buffer.alloc(3000, 0xa5)]));
      const torn = openCommandStore(copy);
      const ids = torn
        .list({ limit: 100 })
        .map(({ id }) => id)
        .reverse();
      assert.deepEqual(
        ids,
        ids.map((_, n) => `d${n}`),
      );
      assert.deepEqual(torn.audit(), []);
      assert.ok(ids.length >= last);
      last = ids.length;
      assert.equal((await torn.write(makeAccept('new'))).kind, 'stored');
      await torn.close();
    }
    assert.equal(last, 40);
  });
});

describe('a disk that does not take the log', () => {
  /** Commits over a log whose syncs end when and as the test says. */
  function bench(t: TestContext) {
    const path = join(tempDir(t), 'state.db');
    const db = openDatabase(path, 'normal');
    t.after(() => db.close());
    migrate(db);
    const syncs: ((error: Error | null) => void)[] = [];
    const log = new LogSync((done) => void syncs.push(done));
    const commit = createDurableCommit({ db, commit: createTransactions(db).commit, log });
    const answers: string[] = [];
    const write = (id: string): void =>
      commit([{ ref: null, mutation: makeAccept(id) }], ([result]) => void answers.push(`${id}: ${result?.kind}`));
    const sync = (error: string | null): void => syncs.shift()?.(error === null ? null : new Error(error));
    const logSize = (): number => statSync(`${path}-wal`).size;
    return { write, sync, answers, logSize, waiting: syncs };
  }

  it('holds an answer until its commit is on the disk, and lets those that wait share the next sync', (t) => {
    const { write, sync, answers, waiting } = bench(t);
    for (const id of ['a', 'b', 'c']) write(id);
    assert.deepEqual([answers, waiting.length], [[], 1]);
    sync(null);
    assert.deepEqual([answers, waiting.length], [['a: ok'], 1]);
    sync(null);
    assert.deepEqual([answers, waiting.length], [['a: ok', 'b: ok', 'c: ok'], 0]);
  });

  it('acknowledges neither that commit nor those behind it', (t) => {
    const { write, sync, answers } = bench(t);
    for (const id of ['a', 'b']) write(id);
    sync('EIO: i/o error');
    sync(null);
    assert.deepEqual(answers, ['a: unavailable', 'b: unavailable']);
  });

  it('goes on once the log was brought to the disk another way', (t) => {
    const { write, sync, answers, logSize } = bench(t);
    for (const id of ['a', 'b']) write(id);
    sync('EIO: i/o error');
    const before = logSize();
    write('c');
    assert.ok(logSize() < before);
    sync(null);
    sync(null);
    // The second one was in the log that is in the file now.
    assert.deepEqual(answers, ['a: unavailable', 'b: ok', 'c: ok']);
  });
});

describe('a writer thread that dies', () => {
  it('fails what it had, says so, and is started again', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const log = recordLog();
    const threads: ReturnType<typeof startThread>[] = [];
    const thread = () => {
      const started = startThread(path, 'full');
      threads.push(started);
      return started;
    };
    const store = openServerStore({ path, durability: 'full', log, thread });
    t.after(() => store.close());
    await store.write(makeAccept('a'));
    await threads[0]?.terminate();
    await store.write(makeAccept('b'));
    const lost = store.write(makeAccept('c'));
    await settle(1);
    await threads[1]?.terminate();
    await lost.catch((error) => assert.ok(error instanceof StoreUnavailable));
    await store.write(makeAccept('d'));
    assert.deepEqual(store.audit(), []);
    assert.ok(store.find('b') !== null && store.find('d') !== null);
  });
});
