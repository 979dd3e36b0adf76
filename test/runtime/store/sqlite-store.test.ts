import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import Database from 'libsql';
import type { CommitResult } from '../../../runtime/store/sqlite/commit.ts';
import type { Committer } from '../../../runtime/store/sqlite/committer.ts';
import { WriteQueue } from '../../../runtime/store/sqlite/write-queue.ts';
import { openCommandStore, openServerStore, openStoreReader } from '../../../runtime/store/sqlite-store.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreUnavailable } from '../../../runtime/store/store.ts';
import { deferred } from '../../helpers/dispatch-bench.ts';
import { makeAccept, makeClaim } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { silentLog } from '../../helpers/log.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { accept, storeContract } from './store-contract.ts';

const openIn = (t: TestContext, path: string): Store => {
  const store = openCommandStore(path);
  t.after(() => store.close());
  return store;
};

storeContract('sqlite store', (t) => openIn(t, join(tempDir(t), 'state.db')));

describe('sqlite store: the file', () => {
  it('is readable by its owner alone, with its companions', async (t) => {
    const path = join(tempDir(t), 'home', 'state.db');
    await accept(openIn(t, path), 'a');
    for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix);
    assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
  });

  it('is still there for the next one to open it', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const store = openCommandStore(path);
    await accept(store, 'a');
    await store.close();
    const reader = openStoreReader(path);
    assert.equal(reader.find('a')?.state, 'pending');
    reader.close();
  });

  it('is asked for ids that this process did not claim, and not for those it did', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const first = openIn(t, path);
    await accept(first, 'a', { claim: makeClaim('mine', 5000) });
    await first.write(makeAccept('b', { claim: makeClaim('later', 5000), claiming: 'later' }));
    const known = (store: Store, id: string, now = 2000): boolean[] => [
      store.isKnownClaimed(makeClaim(id), now),
      store.isClaimed(makeClaim(id), now),
    ];
    assert.deepEqual(known(first, 'mine'), [true, true]);
    assert.deepEqual(known(first, 'mine', 5000), [false, false]);
    assert.deepEqual(known(first, 'later'), [false, false]);
    const second = openIn(t, path);
    assert.deepEqual(known(second, 'mine'), [false, true]);
    assert.equal((await second.write(makeAccept('c', { claim: makeClaim('mine', 9000) }))).kind, 'duplicate');
    assert.deepEqual(known(second, 'mine', 6000), [false, false]);
  });

  it('of a newer version is refused and left alone', (t) => {
    const path = join(tempDir(t), 'state.db');
    const db = new Database(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    for (const open of [openCommandStore, openStoreReader])
      assert.throws(() => open(path), /newer hookwright \(format 99/);
  });

  it('of an earlier format is brought up to date with what it holds', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const store = openCommandStore(path);
    const ref = await accept(store, 'a', { claim: makeClaim('same', 9000) });
    await store.close();
    const old = new Database(path);
    const step = (n: number) => JSON.stringify({ kind: 'run', outcome: 'failed', reason: `try ${n}` });
    old.exec('DROP TABLE step; CREATE INDEX claim_expiry ON claim (expires_at)');
    old.exec("DELETE FROM meta WHERE key = 'store_name'");
    old.exec('CREATE TABLE step (ref INTEGER, n INTEGER, data TEXT, PRIMARY KEY (ref, n)) WITHOUT ROWID');
    for (const n of [1, 2]) old.prepare('INSERT INTO step VALUES (?, ?, ?)').run([ref, n, step(n)]);
    old.exec('PRAGMA user_version = 2');
    old.close();
    const migrated = openIn(t, path);
    assert.deepEqual(
      migrated.load(ref)?.steps.map(({ reason }) => reason),
      ['try 1', 'try 2'],
    );
    assert.equal(migrated.isClaimed(makeClaim('same'), 5000), true);
    const steps = [JSON.parse(step(3))];
    await migrated.write({ kind: 'advance', ref, to: 'pending', at: 2000, steps });
    assert.equal(migrated.load(ref)?.steps.length, 3);
  });

  it('that is no database is refused with its name', (t) => {
    const path = join(tempDir(t), 'state.db');
    writeFileSync(path, 'this is no database, it only looks like a file of some length'.repeat(50));
    for (const open of [openCommandStore, openStoreReader])
      assert.throws(() => open(path), /cannot open .*state\.db: .*not a database/);
  });
});

describe('sqlite store: a server', () => {
  const open = (path: string): Store => openServerStore({ path, durability: 'full', log: silentLog });

  it('writes on its thread, keeps a second server out and lets a command in', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const server = open(path);
    t.after(() => server.close());
    const results = await Promise.all(['a', 'b', 'c'].map((id) => server.write(makeAccept(id))));
    assert.deepEqual(
      results.map((result) => result.kind === 'stored' && result.ref),
      [2, 4, 6],
    );
    assert.throws(() => open(path), /in use by another server/);
    const command = openIn(t, path);
    await accept(command, 'd', { inbox: true });
    assert.deepEqual(server.inbox(5), [7]);
    assert.deepEqual(
      command.list({ limit: 5 }).map(({ id }) => id),
      ['d', 'c', 'b', 'a'],
    );
    assert.deepEqual(server.audit(), []);
  });

  it('takes no id for done whose commit is still on its way', async () => {
    const commits: ReturnType<typeof deferred<readonly CommitResult[]>>[] = [];
    const committer: Committer = {
      commit() {
        const commit = deferred<readonly CommitResult[]>();
        commits.push(commit);
        return commit.promise;
      },
      settle: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    const queue = new WriteQueue(committer, { committed: () => {} });
    const isClaiming = () => ['1', '2', '3'].map((id) => queue.isClaiming(makeClaim(id)));
    const sent = queue.write(makeAccept('a', { claim: makeClaim('1') }));
    await settle(2);
    const waiting = queue.write(makeAccept('b', { claim: makeClaim('2') }));
    assert.deepEqual(isClaiming(), [true, true, false]);
    await settle(2);
    for (const commit of commits) commit.resolve([{ kind: 'ok', value: true }]);
    await Promise.all([sent, waiting]);
    assert.deepEqual(isClaiming(), [false, false, false]);
  });

  it('takes nothing more once it is closed, so that its thread stays ended', async (t) => {
    const server = open(join(tempDir(t), 'state.db'));
    await server.close();
    await assert.rejects(server.write(makeAccept('a')), new StoreUnavailable('the store is closed'));
    await server.close();
  });

  it('lets what its changes tell of leave the process before it commits them', async (t) => {
    const seen: number[] = [];
    const path = join(tempDir(t), 'state.db');
    const beforeCommit = (): void => void seen.push(server.last());
    const server = openServerStore({ path, durability: 'normal', log: silentLog, beforeCommit });
    t.after(() => server.close());
    for (const id of ['a', 'b']) {
      const ref = await accept(server, id);
      // Nothing has happened yet with an event that is only accepted.
      await server.write({ kind: 'advance', ref, to: 'delivering', at: 2000, answer: 'yes' });
    }
    assert.deepEqual(seen, [2, 4]);
  });

  it('finishes what was written before it closes', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const server = open(path);
    const written = server.write(makeAccept('a'));
    await server.close();
    assert.equal((await written).kind, 'stored');
    assert.equal(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0, 0);
    await open(path).close();
  });
});
