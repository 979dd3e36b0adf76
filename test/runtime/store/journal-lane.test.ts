/** What goes to the journal under load, and into the tables later. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Journal } from '../../../runtime/store/journal/journal.ts';
import { segmentPath } from '../../../runtime/store/journal/segments.ts';
import { acceptText, endText, readBatch } from '../../../runtime/store/sqlite/batch-text.ts';
import { JournalLane } from '../../../runtime/store/sqlite/journal-lane.ts';
import { migrate } from '../../../runtime/store/sqlite/migrations.ts';
import { ServerNumbers } from '../../../runtime/store/sqlite/numbering.ts';
import { openDatabase } from '../../../runtime/store/sqlite/open-database.ts';
import { Pending } from '../../../runtime/store/sqlite/pending.ts';
import { startThread } from '../../../runtime/store/sqlite/start-thread.ts';
import { StoredClaims } from '../../../runtime/store/sqlite/stored-claims.ts';
import { WriteQueue } from '../../../runtime/store/sqlite/write-queue.ts';
import { openCommandStore, openServerStore, openStoreReader } from '../../../runtime/store/sqlite-store.ts';
import type { Store, StoreReader } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { deferred } from '../../helpers/dispatch-bench.ts';
import { makeAccept, makeClaim, makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { openJournaledStore } from '../../helpers/journaled-store.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { accept } from './store-contract.ts';

const idsOf = (store: StoreReader): readonly string[] =>
  store
    .list({ limit: 100 })
    .map(({ id }) => id)
    .reverse();

function openIn(t: TestContext): { readonly path: string; readonly store: Store } {
  const path = join(tempDir(t), 'state.db');
  const store = openJournaledStore(path);
  t.after(() => store.close());
  return { path, store };
}

/** An event with a delivery id, which it claims. */
const claiming = (id: string, deliveryId: string, { now = 1000, expires = 9000 } = {}) =>
  makeAccept(id, {
    dispatch: makeDispatch(id, { delivery_id: deliveryId }),
    claim: makeClaim(deliveryId, expires),
    now,
  });

const done = (ref: number) =>
  ({ kind: 'advance', ref, to: 'done', at: 2000, started_at: 1500, answer: 'yes' }) as const;

describe('a dispatch in the journal', () => {
  it('is in its tables, as it is then, once it was moved there', async (t) => {
    const { store } = openIn(t);
    const a = await accept(store, 'a', claiming('a', '1'));
    await accept(store, 'b');
    const step = { kind: 'delivery', index: 0, outcome: 'ok', started_at: 1600, at: 2000 } as never;
    assert.equal(await store.write({ ...done(a), steps: [step] }), true);
    assert.deepEqual(idsOf(store), []);
    await store.settle();
    assert.deepEqual(idsOf(store), ['a', 'b']);
    const { state, started_at, answered_at, finished_at, answer, steps } = store.load(a) ?? {};
    assert.deepEqual([state, started_at, answered_at, finished_at, answer], ['done', 1500, 2000, 2000, 'yes']);
    assert.deepEqual(steps, [step]);
    assert.deepEqual([store.isClaimed(makeClaim('1'), 5000), store.audit()], [true, []]);
  });

  it('keeps its delivery id and its end as any other does', async (t) => {
    const { store } = openIn(t);
    const a = await accept(store, 'a', claiming('a', '1', { expires: 1500 }));
    const repeat = (id: string, now: number) => store.write(claiming(id, '1', { now }));
    assert.equal((await repeat('b', 1400)).kind, 'duplicate');
    assert.equal((await repeat('c', 1500)).kind, 'stored');
    const ends = await Promise.all([store.write(done(a)), store.write(done(a))]);
    assert.deepEqual([...ends, await store.write(done(a))], [true, false, false]);
    await store.settle();
    assert.equal((await repeat('d', 3000)).kind, 'duplicate');
    assert.equal(await store.write(done(a)), false);
    await assert.rejects(async () => store.write(makeAccept('c', { claim: null })), /cannot store accept/);
    assert.deepEqual([idsOf(store), store.audit()], [['a', 'c'], []]);
  });

  it('is brought into the tables by whoever opens the store after a kill', async (t) => {
    const openers: readonly ((path: string) => StoreReader & { close(): unknown })[] = [
      openStoreReader,
      openCommandStore,
      (path) => openServerStore({ path, durability: 'full', log: silentLog }),
    ];
    for (const open of openers) {
      const { path, store } = openIn(t);
      const refs = [await accept(store, 'a', claiming('a', '1')), await accept(store, 'b')];
      await store.write(done(refs[0] ?? 0));
      await store.settle();
      // Its end comes behind what was in the tables by then.
      await store.write(done(refs[1] ?? 0));
      await accept(store, 'c', claiming('c', '3'));
      const after = open(path);
      assert.deepEqual(
        after.list({ limit: 9 }).map(({ id, state }) => `${id} ${state}`),
        ['c pending', 'b done', 'a done'],
      );
      for (const id of ['1', '3']) assert.equal(after.isClaimed(makeClaim(id), 5000), true);
      assert.deepEqual(after.audit(), []);
      await after.close();
    }
  });

  it('has a number of its own beside what a command writes', async (t) => {
    const { path, store } = openIn(t);
    const command = openCommandStore(path);
    t.after(() => command.close());
    const refs = [await accept(store, 'a'), await accept(store, 'b')];
    const foreign: number[] = [];
    for (const id of ['c', 'd', 'x', 'y']) foreign.push(await accept(command, id, { inbox: true }));
    refs.push(...foreign, await accept(store, 'e'));
    assert.equal(new Set(refs).size, 7);
    assert.deepEqual(store.inbox(9), foreign);
    // Once they were taken up, what comes later has higher ones.
    await store.write({ kind: 'take_inbox', refs: foreign });
    refs.push(await accept(store, 'f'));
    assert.equal(Math.max(...refs), refs.at(-1));
    for (const ref of refs) assert.equal(await store.write(done(ref)), true);
    await store.settle();
    assert.deepEqual([...idsOf(command)].sort(), ['a', 'b', 'c', 'd', 'e', 'f', 'x', 'y']);
    assert.deepEqual(command.audit(), []);
  });

  it('is not changed by what was written before it was', async (t) => {
    const { store } = openIn(t);
    const a = await accept(store, 'a');
    const results = await Promise.all([
      store.write({ kind: 'advance', ref: a, to: 'delivering', at: 1000, answer: 'yes' }),
      store.write(done(a)),
      store.write({ kind: 'advance', ref: a, to: 'dead', at: 3000, reason: 'late' }),
    ]);
    assert.deepEqual(results, [true, true, false]);
    assert.equal(store.load(a)?.state, 'done');
  });
});

it('a batch reads as it was written, whatever its texts hold', () => {
  const text = 'NUL \0, a lone surrogate \ud800, a line\nbreak, "quoted"';
  const dispatch = makeDispatch('a', { delivery_id: text, prompt: text });
  const step = { kind: 'delivery', index: 0, outcome: 'ok', reason: text } as never;
  const accept = makeAccept('a', { dispatch, claim: makeClaim(text, 9000), max_concurrent: 3 });
  const batch = readBatch(
    [
      acceptText(2, accept),
      endText(done(7)),
      acceptText(4, makeAccept('b', { claim: null })),
      endText({ ...done(8), steps: [step, step], answer: text }),
      endText({ kind: 'advance', ref: 9, to: 'skipped', at: 1, reason: text }),
    ].join(''),
  );
  const [a, b] = batch.dispatches;
  assert.deepEqual(JSON.parse(a?.row.body ?? ''), dispatch);
  assert.deepEqual([a?.ref, a?.expiresAt, a?.readyAt, a?.row.max_concurrent], [2, 9000, accept.now, 3]);
  assert.deepEqual(JSON.parse(a?.claim ?? ''), ['default', 'alerts', text]);
  assert.deepEqual([b?.ref, b?.claim, b?.expiresAt, b?.row.max_concurrent], [4, null, null, null]);
  const [first, second, third] = batch.ends;
  assert.deepEqual([first?.ref, first?.to, first?.at, first?.started_at], [7, 'done', 2000, 1500]);
  assert.deepEqual([first?.answer, first?.reason, first?.steps], ['"yes"', null, []]);
  assert.deepEqual(second?.steps, [JSON.stringify(step), JSON.stringify(step)]);
  assert.deepEqual([JSON.parse(second?.answer ?? ''), JSON.parse(third?.reason ?? '')], [text, text]);
});

/** A writer that dies as soon as it is told anything. */
const DYING = "require('node:worker_threads').parentPort.once('message', () => process.exit(1))";

describe('a server under load', () => {
  const open = (t: TestContext, from?: number): Store => {
    const path = join(tempDir(t), 'state.db');
    const store = openServerStore({ path, durability: 'full', log: silentLog, journal: { from } });
    t.after(() => store.close());
    return store;
  };
  const writeAll = (store: Store, count: number, prompt = 'p', prefix = '') =>
    Promise.all(
      Array.from({ length: count }, (_, n) => {
        const id = `${prefix}${String(n).padStart(3, '0')}`;
        const dispatch = makeDispatch(id, { prompt, delivery_id: id });
        return store.write({ ...claiming(id, id), dispatch });
      }),
    );

  it('shows everything that was written once it has settled', async (t) => {
    const store = open(t, 1);
    for (let count = 20; count <= 100; count += 20) {
      await writeAll(store, 20, `p${count}`, `${count + 100}-`);
      const others = writeAll(store, 5, 'p', `${count + 100}-others-`);
      await store.settle();
      assert.ok((store.tallies()[0]?.accepted ?? 0) >= count, `${count}`);
      await others;
    }
    assert.deepEqual(store.audit(), []);
  });

  it('settles though more is written all the time', async (t) => {
    const store = open(t);
    let [settled, written] = [false, 0];
    const load = ['a', 'b', 'c'].map(async (writer) => {
      for (let n = 0; !settled && n < 2000; n++) {
        await writeAll(store, 10, 'p', `${String(written).padStart(5, '0')}${writer}${n}-`);
        written++;
      }
    });
    await setTimeout(20);
    await store.settle();
    settled = true;
    await Promise.all(load);
    assert.ok(written < 6000, `${written} batches`);
  });

  it('leaves no journal behind when it is stopped', async (t) => {
    for (const durability of ['full', 'normal'] as const) {
      const path = join(tempDir(t), 'state.db');
      const store = openServerStore({ path, durability, log: silentLog });
      const results = await writeAll(store, 50);
      assert.equal(existsSync(segmentPath(path, 0)), true, durability);
      const ended = results.slice(0, 30).map((result) => store.write(done(result.kind === 'stored' ? result.ref : 0)));
      assert.ok((await Promise.all(ended)).every((ok) => ok));
      await store.close();
      assert.equal(existsSync(segmentPath(path, 0)), false, durability);
      const after = openStoreReader(path);
      assert.deepEqual([after.tallies()[0]?.done, after.tallies()[0]?.pending, after.audit()], [30, 20, []]);
      after.close();
    }
  });

  it('goes on when its writer dies, with what it had in the journal', async (t) => {
    const path = join(tempDir(t), 'state.db');
    let threads = 0;
    const thread = () => (threads++ === 0 ? new Worker(DYING, { eval: true }) : startThread(path, 'full'));
    const store = openServerStore({ path, durability: 'full', log: silentLog, thread });
    t.after(() => store.close());
    await writeAll(store, 20);
    assert.deepEqual(idsOf(store), []);
    while (idsOf(store).length < 20) await setTimeout(20);
    assert.deepEqual([threads, store.audit()], [2, []]);
  });

  it('answers a repeat as one, wherever the first one is', async (t) => {
    const store = open(t);
    const together = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => store.write(claiming(`a${n}`, `${n}`))),
      ...Array.from({ length: 10 }, (_, n) => store.write(claiming(`b${n}`, `${n}`))),
    ]);
    assert.deepEqual(together.filter(({ kind }) => kind === 'stored').length, 10);
    const journaled = await Promise.all(Array.from({ length: 10 }, (_, n) => store.write(claiming(`c${n}`, `${n}`))));
    await store.settle();
    const moved = await Promise.all(Array.from({ length: 10 }, (_, n) => store.write(claiming(`d${n}`, `${n}`))));
    const late = Array.from({ length: 10 }, (_, n) =>
      store.write(claiming(`e${n}`, `${n}`, { now: 9000, expires: 9999 })),
    );
    const kinds = [...journaled, ...moved].map(({ kind }) => kind);
    assert.deepEqual(new Set(kinds), new Set(['duplicate']));
    assert.ok((await Promise.all(late)).every(({ kind }) => kind === 'stored'));
  });

  it('changes nothing behind the back of a change that is on its way to the tables', async (t) => {
    const store = open(t, 1);
    const a = await accept(store, 'a');
    const dead = store.write({ kind: 'advance', ref: a, to: 'dead', at: 2000, reason: 'given up' });
    await settle(1);
    assert.deepEqual([await store.write(done(a)), await dead], [false, true]);
    const long = {
      ...claiming('b', '1'),
      dispatch: makeDispatch('b', { delivery_id: '1', prompt: 'x'.repeat(300_000) }),
    };
    const first = store.write(long);
    await settle(1);
    assert.deepEqual([(await store.write(claiming('c', '1'))).kind, (await first).kind], ['duplicate', 'stored']);
    assert.deepEqual(store.audit(), []);
  });

  it('shows it by itself soon after', async (t) => {
    const store = open(t);
    await writeAll(store, 50);
    assert.equal(store.isClaimed(makeClaim('049'), 5000), true);
    while (idsOf(store).length < 50) await setTimeout(5);
    assert.deepEqual(store.audit(), []);
  });

  it('shows it soon even while more keeps coming, one by one', async (t) => {
    const store = open(t);
    await writeAll(store, 12);
    let written = 0;
    for (; idsOf(store).length < 12; written++) {
      await accept(store, `single ${written}`);
      await setTimeout(5);
    }
    assert.ok(written < 60, `${written} more were written before`);
  });

  it('shows at once what is too long to be written twice, and what comes alone', async (t) => {
    const store = open(t);
    await accept(store, 'alone');
    assert.equal(idsOf(store).length, 1);
    await writeAll(store, 20, 'x'.repeat(20_000));
    assert.equal(idsOf(store).length, 21);
  });
});

describe('a server at full', () => {
  function openLane(t: TestContext, TheJournal: typeof Journal) {
    const path = join(tempDir(t), 'state.db');
    const db = openDatabase(path, 'full');
    migrate(db);
    t.after(() => db.close());
    const log = recordLog();
    const journal = new TheJournal({ path, store: '0'.repeat(32), last: 0, salt: () => 1 });
    const lane = new JournalLane({
      ...{ durability: 'full', journal, log, from: 1, lastId: '', follow: () => {}, committed: () => {} },
      numbers: new ServerNumbers(() => 0),
      storedClaims: (pending) => new StoredClaims(db, pending),
    });
    t.after(() => lane.close());
    return { lane, log };
  }

  it('has events of turns that follow one another share a sync, and acknowledges none before', async (t) => {
    // However long a turn takes here: no event may wait for others for more than some ms.
    t.mock.method(performance, 'now', () => 1000);
    let syncs = 0;
    let [acknowledged, before] = [0, 0];
    class CountingDisk extends Journal {
      override sync(done: (error: Error | null) => void): void {
        syncs++;
        before = acknowledged;
        super.sync(done);
      }
    }
    const { lane } = openLane(t, CountingDisk);
    const queue = new WriteQueue({} as never, { committed: () => {}, lane });
    const writes: Promise<unknown>[] = [];
    for (const id of ['a', 'b', 'c']) {
      writes.push(queue.write(claiming(id, id)).then(() => acknowledged++));
      await settle(1);
    }
    await Promise.all(writes);
    assert.deepEqual([syncs, before, acknowledged], [1, 0, 3]);
    await queue.write(claiming('d', 'd'));
    assert.equal(syncs, 2);
  });

  it('gives a disk that does not take the journal nothing more of it, and acknowledges nothing of it', async (t) => {
    class BadDisk extends Journal {
      override sync(done: (error: Error | null) => void): void {
        setImmediate(() => done(new Error('EIO: i/o error, fdatasync')));
      }
    }
    const { lane, log } = openLane(t, BadDisk);
    const take = (id: string) => {
      const { promise, resolve, reject } = deferred<never>();
      const rest = lane.take([new Pending(claiming(id, id), resolve, reject)], () => false);
      return { promise, rest };
    };
    const first = take('a');
    assert.deepEqual([first.rest, lane.isClaimed(makeClaim('a'), 2000)], [[], false]);
    await assert.rejects(first.promise, StoreUnavailable);
    assert.equal(take('b').rest.length, 1);
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields.reason]),
      [['error', 'EIO: i/o error, fdatasync']],
    );
  });
});
