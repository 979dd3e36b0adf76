/** What is committed as one text under load, and moved into its tables later. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Mutation } from '../../../runtime/store/mutations.ts';
import { pack, toChange, unpack } from '../../../runtime/store/sqlite/changes.ts';
import { startThread } from '../../../runtime/store/sqlite/start-thread.ts';
import { openCommandStore, openServerStore, openStoreReader } from '../../../runtime/store/sqlite-store.ts';
import type { Store, StoreReader } from '../../../runtime/store/store.ts';
import { makeAccept, makeClaim, makeDispatch } from '../../helpers/dispatches.ts';
import { silentLog } from '../../helpers/log.ts';
import type { StagedStore } from '../../helpers/staged-store.ts';
import { openStagedStore } from '../../helpers/staged-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { accept } from './store-contract.ts';

const idsOf = (store: StoreReader): readonly string[] =>
  store
    .list({ limit: 100 })
    .map(({ id }) => id)
    .reverse();

function openIn(t: TestContext): { readonly path: string; readonly store: StagedStore } {
  const path = join(tempDir(t), 'state.db');
  const store = openStagedStore(path);
  t.after(() => store.close());
  return { path, store };
}

const done = (ref: number) =>
  ({ kind: 'advance', ref, to: 'done', at: 2000, started_at: 1500, answer: 'yes' }) as const;

describe('a staged dispatch', () => {
  it('is in its tables, as it is then, once it was moved there', async (t) => {
    const { store } = openIn(t);
    const a = await accept(store, 'a', { claim: makeClaim('1', 9000) });
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
    const a = await accept(store, 'a', { claim: makeClaim('1', 1500) });
    const repeat = (id: string, now: number) => store.write(makeAccept(id, { claim: makeClaim('1', 9000), now }));
    assert.equal((await repeat('b', 1400)).kind, 'duplicate');
    assert.equal((await repeat('c', 1500)).kind, 'stored');
    assert.deepEqual([await store.write(done(a)), await store.write(done(a))], [true, false]);
    store.move(1);
    assert.equal((await repeat('d', 3000)).kind, 'duplicate');
    assert.equal(await store.write(done(a)), false);
    await assert.rejects(async () => store.write(makeAccept('c', { claim: null })), /stored already/);
  });

  it('is moved by whoever opens the store after a kill', async (t) => {
    const openers: readonly ((path: string) => StoreReader & { close(): unknown })[] = [
      openStoreReader,
      openCommandStore,
      (path) => openServerStore({ path, durability: 'full', log: silentLog }),
    ];
    for (const open of openers) {
      const { path, store } = openIn(t);
      const refs = [await accept(store, 'a', { claim: makeClaim('1', 9000) }), await accept(store, 'b')];
      for (const ref of refs) await store.write(done(ref));
      // It takes its end along; the batch of that is still there when the next one opens the store.
      store.move(1);
      await accept(store, 'c', { claim: makeClaim('3', 9000) });
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

  it('makes way for what a command writes beside', async (t) => {
    const { path, store } = openIn(t);
    const a = await accept(store, 'a');
    const command = openCommandStore(path);
    t.after(() => command.close());
    await accept(store, 'b');
    const c = await accept(command, 'c', { inbox: true });
    await accept(store, 'd');
    for (const ref of [a, c]) assert.equal(await store.write(done(ref)), true);
    await store.settle();
    assert.deepEqual(idsOf(command), ['a', 'b', 'c', 'd']);
    assert.deepEqual(command.audit(), []);
  });
});

it('a batch crosses to the writer whole, whatever its changes are', () => {
  const text = 'NUL \0, a lone surrogate \ud800, "quoted"';
  const dispatch = makeDispatch('a', { delivery_id: text, prompt: text, replay_of: null });
  const step = { kind: 'delivery', index: 0, outcome: 'ok', reason: text } as never;
  const batch: readonly Mutation[] = [
    makeAccept('a', { dispatch, claim: makeClaim(text, 9000), max_concurrent: 3 }),
    done(7),
    { ...done(8), steps: [step, step], answer: text },
    makeAccept('b', { claim: null }),
    makeAccept('c', { claiming: 'later' }),
    { kind: 'advance', ref: 9, to: 'dead', at: 1, reason: text },
    { kind: 'advance', ref: 9, to: 'skipped', at: 1, reason: text },
  ];
  const kinds = batch.map((mutation) => toChange(mutation).kind);
  assert.deepEqual(kinds, ['accepted', 'ended', 'ended', 'accepted', 'other', 'other', 'ended']);
  assert.deepEqual(unpack(structuredClone(pack(batch))), batch.map(toChange));
});

describe('a server under load', () => {
  const open = (t: TestContext, stagedFrom?: number): Store => {
    const path = join(tempDir(t), 'state.db');
    const thread = () => startThread(path, 'full', stagedFrom === undefined ? {} : { stagedFrom });
    const store = openServerStore({ path, durability: 'full', log: silentLog, thread });
    t.after(() => store.close());
    return store;
  };
  const writeAll = (store: Store, count: number, prompt = 'p', prefix = '') =>
    Promise.all(
      Array.from({ length: count }, (_, n) => {
        const id = `${prefix}${n}`;
        return store.write(makeAccept(id, { dispatch: makeDispatch(id, { prompt }), claim: makeClaim(id, 9000) }));
      }),
    );

  it('shows everything that was written once it has settled', async (t) => {
    const store = open(t, 1);
    for (let count = 20; count <= 100; count += 20) {
      await writeAll(store, 20, `p${count}`, `${count}-`);
      const others = writeAll(store, 5, 'p', `others ${count}-`);
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
      for (let n = 0; !settled && n < 200; n++) {
        await writeAll(store, 10, 'p', `${writer}${n}-`);
        written++;
      }
    });
    await setTimeout(20);
    await store.settle();
    settled = true;
    await Promise.all(load);
    assert.ok(written < 600, `${written} batches`);
  });

  it('shows it by itself soon after', async (t) => {
    const store = open(t);
    await writeAll(store, 50);
    assert.equal(store.isClaimed(makeClaim('49'), 5000), true);
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
