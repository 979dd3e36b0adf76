/** The writer when its connection fails, with a driver that fails on demand. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { sqliteRescue } from '../../../../modules/rescue/runtime/rescue.ts';
import type { Mutation } from '../../../../runtime/store/contract.ts';
import type { CommitResult } from '../../../../runtime/store/group-commit.ts';
import { encodeChange } from '../../../../runtime/store/group-commit.ts';
import type { Connect, Connection } from '../../../../runtime/store/sqlite/driver.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { Reader } from '../../../../runtime/store/sqlite/read.ts';
import { Writer } from '../../../../runtime/store/sqlite/writer.ts';
import { makeAccept, makeClaim, makeTake } from '../../../helpers/dispatches.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

/**
 * Fails the statements that `fails` names, instead of executing them. `wrote`: the transaction has changed something.
 */
function faulty(fails: (sql: string, wrote: boolean) => string | null): Connect {
  return (path, options) => {
    const db = connect(path, options);
    let wrote = false;
    const exec = (sql: string): void => {
      if (sql.startsWith('BEGIN')) wrote = false;
      const code = fails(sql, wrote);
      if (code !== null) throw Object.assign(new Error(`${code} by request`), { code });
      db.exec(sql);
    };
    return {
      ...db,
      exec,
      change(sql) {
        const change = db.change(sql);
        return (...values) => {
          wrote = true;
          return change(...values);
        };
      },
      get inTransaction() {
        return db.inTransaction;
      },
    } satisfies Connection;
  };
}

async function open(t: TestContext, fails: Parameters<typeof faulty>[0]) {
  const path = join(tempDir(t), 'state.db');
  let opened = 0;
  // The first change of a process marks the file as open.
  let isReady = false;
  const connecting: Connect = (...args) => {
    opened++;
    return faulty((sql, wrote) => (isReady ? fails(sql, wrote) : null))(...args);
  };
  const writer = new Writer({ path, durability: 'full', connect: connecting, rescue: sqliteRescue });
  const reader = new Reader({ path, rescue: sqliteRescue });
  t.after(async () => {
    reader.serve({ kind: 'close' });
    await writer.serve({ kind: 'close' });
  });
  assert.deepEqual(await writer.serve({ kind: 'prepare', now: 1 }), {
    kind: 'prepared',
    findings: { unchecked: false, damage: null, broken: null, aside: [] },
  });
  const commit = async (...mutations: readonly Mutation[]): Promise<readonly CommitResult[]> => {
    const changes = mutations.map(encodeChange);
    return JSON.parse((await writer.serve({ kind: 'commit', changes })) as string).results;
  };
  await commit({ kind: 'forget_ticks', before: 0, limit: 1 });
  isReady = true;
  const kinds = async (...mutations: readonly Mutation[]) => (await commit(...mutations)).map(({ kind }) => kind);
  const ids = (): readonly string[] => {
    const found = JSON.parse(
      String(reader.serve({ kind: 'read', queries: [{ kind: 'list', filter: { limit: 999 } }] })),
    );
    const [list] = found as [{ readonly value: readonly { readonly id: string }[] }];
    return list.value.map(({ id }) => id).sort();
  };
  const probe = () => writer.serve({ kind: 'probe' });
  return { commit, kinds, ids, probe, opened: () => opened };
}

describe('a commit that fails', () => {
  it('stores nothing of its group, reopens the connection, and overwrites its frames before it reports the failure', async (t) => {
    const statements: string[] = [];
    let failing = 0;
    const store = await open(t, (sql) => {
      statements.push(sql);
      return sql === 'COMMIT' && failing-- > 0 ? 'SQLITE_IOERR_FSYNC' : null;
    });
    assert.deepEqual(await store.kinds(makeAccept('a')), ['ok']);
    const before = store.opened();
    statements.length = 0;
    // The commit, and the first one that is to overwrite it.
    failing = 2;
    assert.deepEqual(await store.kinds(makeAccept('b'), makeAccept('c')), ['unavailable', 'unavailable']);
    assert.deepEqual(store.ids(), ['a']);
    assert.ok(store.opened() > before);
    const overwritten = statements.filter((sql) => /^(?:COMMIT|INSERT OR REPLACE INTO meta)/.test(sql));
    assert.deepEqual(
      overwritten.map((sql) => sql.slice(0, 6)),
      ['COMMIT', 'INSERT', 'COMMIT', 'INSERT', 'COMMIT'],
    );
    // Its ids are free, and its numbers are assigned once.
    const [again] = await store.commit(makeAccept('b'));
    assert.deepEqual(again, { kind: 'ok', value: { kind: 'stored', ref: 2 } });
  });

  it('is in doubt while it cannot be overwritten, and blocks other commits until it is', async (t) => {
    let failing = false;
    let commits = 0;
    const store = await open(t, (sql) => {
      if (sql !== 'COMMIT' || !failing) return null;
      commits++;
      return 'SQLITE_IOERR_FSYNC';
    });
    failing = true;
    assert.deepEqual(await store.kinds(makeAccept('a')), ['in_doubt']);
    assert.ok(commits > 2, 'it was tried for some time');
    commits = 0;
    assert.deepEqual(await store.kinds(makeAccept('b')), ['unavailable']);
    assert.equal(commits, 1, 'its outcome is known: it is not made again');
    failing = false;
    assert.deepEqual(await store.kinds(makeAccept('a'), makeTake(1000)), ['ok', 'ok']);
    assert.deepEqual(store.ids(), ['a']);
  });

  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_READONLY', 'SQLITE_IOERR_SHMMAP']) {
    it(`with ${code} is retried by the next one`, async (t) => {
      let failing = 0;
      const store = await open(t, (sql) => (sql === 'COMMIT' && failing-- > 0 ? code : null));
      failing = 1;
      assert.deepEqual(await store.kinds(makeAccept('a')), ['unavailable']);
      assert.deepEqual(await store.kinds(makeAccept('a')), ['ok']);
    });
  }

  it('on a full disk is probed by a write, because a transaction without one succeeds there', async (t) => {
    let isFull = false;
    const store = await open(t, (sql, wrote) => (sql === 'COMMIT' && isFull && wrote ? 'SQLITE_FULL' : null));
    isFull = true;
    assert.deepEqual(await store.kinds(makeAccept('a')), ['unavailable']);
    assert.deepEqual(await store.kinds(makeTake(1000)), ['ok'], 'it had nothing to write');
    await assert.rejects(store.probe(), /SQLITE_FULL/);
    isFull = false;
    await store.probe();
    assert.deepEqual(await store.kinds(makeAccept('a')), ['ok']);
  });

  it('leaves nothing wrong in memory: lanes, counts and groups are read again', async (t) => {
    let failing = 0;
    const store = await open(t, (sql) => (sql === 'COMMIT' && failing-- > 0 ? 'SQLITE_FULL' : null));
    await store.commit(makeAccept('a'), makeAccept('b', { max_concurrent: 1 }));
    failing = 1;
    assert.deepEqual(await store.kinds(makeTake(1000), makeAccept('c', { max_concurrent: 7 })), [
      'unavailable',
      'unavailable',
    ]);
    const [taken] = await store.commit(makeTake(1000));
    assert.deepEqual(taken?.kind === 'ok' && taken.value, {
      ...{ runs: [{ ref: 1, profile: 'default', route: 'alerts', failed: 0 }], attempts: [], waiting: 1 },
      next_due_at: null,
    });
  });
});

it('fails only the change that can never be stored, at any position in its group', async (t) => {
  const store = await open(t, () => null);
  // The same id under another delivery id: the event is not a duplicate, but the dispatch cannot be stored.
  const twin = (n: number) => makeAccept('a', { claim: makeClaim(`twin ${n}`) });
  assert.deepEqual(await store.kinds(makeAccept('a'), twin(1), makeAccept('b'), twin(2), makeAccept('c')), [
    ...['ok', 'failed', 'ok', 'failed', 'ok'],
  ]);
  assert.deepEqual(store.ids(), ['a', 'b', 'c']);
  // Nothing of it is stored: its delivery id is free.
  assert.deepEqual(await store.kinds(makeAccept('d', { claim: makeClaim('twin 1') })), ['ok']);
});
